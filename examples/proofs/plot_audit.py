"""
Auditing a certificate
======================

A certificate is a file. Whoever has the data can check it with one program that shares no code with the solver, and
need not trust whoever made it. Here is one that is checked, one that was tampered with, and a forgery that is sealed
anew.
"""

import hashlib
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from atomsieve import CertifiedLogisticRegression, CriticalFraction, verify

folder = Path(tempfile.mkdtemp())
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = CertifiedLogisticRegression(C=CriticalFraction(0.1), standardize=True).fit(X, y)
model.certificate_.save(folder / "certificate.json")
print(model.certificate_)

# %%
# The auditor has the file, the data, and ``verify``. Labels are -1 and 1 for the logistic loss.
labels = np.where(y == model.classes_[1], 1.0, -1.0)
print(verify(folder / "certificate.json", X, labels))

# %%
# **Tampering.** Somebody prefers that a feature be zero, and takes it out of the list of non-zeros. The seal does not
# fit any more.
forged = json.loads((folder / "certificate.json").read_text())
removed = forged["claims"]["nonzero"].pop(0)
(folder / "forged.json").write_text(json.dumps(forged))
print("removed:", X.columns[removed])
print(verify(folder / "forged.json", X, labels))

# %%
# **A better forger** seals the file anew: the seal is a plain SHA-256, which anybody can compute. But every claim is
# derived again from the data, and this one does not follow.
del forged["seal"]
text = json.dumps(forged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
forged["seal"] = hashlib.sha256(text.encode()).hexdigest()
(folder / "forged.json").write_text(json.dumps(forged))
print(verify(folder / "forged.json", X, labels))

# %%
# **Other data**: one number in one row is off by a little.
changed = X.copy()
changed.iloc[0, 0] += 1e-9
print(verify(folder / "certificate.json", changed, labels))

# %%
# What the file claims, as a picture: each coefficient in its proven interval, per standard deviation of its feature.
# The intervals are as narrow as the fit is good; a smaller ``tol`` makes them narrower.
spread = X.std().to_numpy()
lower, upper = model.certificate_.lower * spread, model.certificate_.upper * spread
order = sorted(np.flatnonzero(model.certificate_.nonzero), key=lambda j: abs(lower[j] + upper[j]))
places = range(len(order))
fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.axvline(0, color="0.6", linewidth=0.8)
ax.hlines(places, lower[order], upper[order], color="tab:blue", linewidth=12)
ax.set_yticks(places, X.columns[order])
ax.set_xlabel("coefficient per standard deviation, proven interval")
ax.set_title(f"{model.certificate_.zero.sum()} features proven zero, {len(order)} proven non-zero")
plt.show()
