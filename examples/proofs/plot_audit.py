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
honest = json.loads((folder / "certificate.json").read_text())
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
# What the file claims, as a picture. Intervals are far narrower than the dots, so their widths stand beside them.
table = model.certificate_.to_frame()
print(table.columns.tolist())
coef = model.coef_.ravel()
order = sorted(np.flatnonzero(model.certificate_.nonzero), key=lambda j: abs(coef[j] * X.iloc[:, j].std()))
widths = (model.certificate_.upper - model.certificate_.lower)[order]
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.axvline(0, color="0.6", linewidth=0.8)
effects = [coef[j] * X.iloc[:, j].std() for j in order]
ax.plot(effects, range(len(order)), "o", color="tab:blue")
for place, (effect, width) in enumerate(zip(effects, widths, strict=True)):
    ax.annotate(
        f"±{width / 2:.0e}", (effect, place), (8, 0), textcoords="offset points", va="center", fontsize=8, color="0.4"
    )
ax.set_yticks(range(len(order)), X.columns[order])
ax.set_xlabel("coefficient per standard deviation; the proven half-width of the coefficient beside it")
ax.set_title(f"{model.certificate_.zero.sum()} features proven zero, {len(order)} proven non-zero")
ax.margins(x=0.15)
plt.show()
