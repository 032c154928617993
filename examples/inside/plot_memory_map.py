"""
Data on disk: a memory map
==========================

A matrix that is larger than memory can stay in its file. ``numpy.load(..., mmap_mode="r")`` gives an array whose
pages are read when they are needed, and nothing here copies it: a float64 memory map is used as it is, for the fit
and for the proof. Above 1 GiB no page is mapped at all: the file is read in pieces, by rows or by columns as it is
stored, and ``Problem`` takes it in the same way (``Parquet`` and Zarr, too).

The file here is small (128 MB), so that the example is quick; what matters is how little is allocated beside it.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import CertifiedLasso, CriticalFraction

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
samples, features = 40_000, 400

# %%
# Write the file in pieces, as one would if it did not fit into memory. Columns are contiguous (``fortran_order``):
# solvers read columns.
file = np.lib.format.open_memmap(
    folder / "X.npy", mode="w+", dtype=np.float64, shape=(samples, features), fortran_order=True
)
for start in range(0, features, 50):
    file[:, start : start + 50] = rng.standard_normal((samples, 50))
y = file[:, :5] @ np.array([1.0, -0.8, 0.6, -0.4, 0.2]) + rng.standard_normal(samples)
file.flush()
del file

# %%
# Fit and prove, and count what is allocated on the way.
X = np.load(folder / "X.npy", mmap_mode="r")
print(type(X).__name__, X.shape, f"{X.nbytes / 1e6:.0f} MB")
tracemalloc.start()
model = CertifiedLasso(CriticalFraction(0.1)).fit(X, y)
fit_peak = tracemalloc.get_traced_memory()[1]
certificate = model.certificate_
proof_peak = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
print(certificate)
print(f"allocated at most: {fit_peak / 1e6:.0f} MB for the fit, {proof_peak / 1e6:.0f} MB with the proof")

# %%
# Beside the file itself.
fig, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
labels = ["the file", "allocated by the fit", "and by the proof"]
bars = ax.barh(labels, [X.nbytes / 1e6, fit_peak / 1e6, proof_peak / 1e6], color=["0.75", "tab:blue", "tab:blue"])
ax.bar_label(bars, fmt="%.0f MB", padding=3)
ax.invert_yaxis()
ax.margins(x=0.12)
ax.set_xlabel("megabytes")
plt.show()
