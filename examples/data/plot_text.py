"""
Words that tell two libraries apart
===================================

Text is wide and sparse: thousands of words, few of them in any one document. Here the documents are the docstrings of
NumPy and SciPy, which are on every machine that can run this, and the question is which words tell them apart.

Sparse matrices stay sparse: nothing is centred, the intercept does that.
"""

import inspect
import pkgutil
import re
import warnings

import matplotlib.pyplot as plt
import numpy as np
import scipy
from sklearn.feature_extraction.text import TfidfVectorizer

from atomsieve import CertifiedLogisticRegressionCV

OWN_NAMES = re.compile("numpy|scipy")  # they would give it away


def docstrings(package, names):
    found = set()
    for name in names:
        module = __import__(f"{package}.{name}" if name else package, fromlist=["_"])
        for _, thing in inspect.getmembers(module, callable):
            text = inspect.getdoc(thing) or ""
            if len(text) > 400 and (getattr(thing, "__module__", "") or package).startswith(package):
                found.add(OWN_NAMES.sub("", text.split("Examples\n")[0].lower()))
    return sorted(found)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # modules that are on their way out
    of_numpy = docstrings("numpy", ["", "linalg", "fft", "random", "ma", "polynomial.polynomial"])
    public = [m.name for m in pkgutil.iter_modules(scipy.__path__) if not m.name.startswith("_") and m.ispkg]
    of_scipy = docstrings("scipy", [name for name in public if name not in ("datasets", "odr", "misc", "integrate")])
print(len(of_numpy), "docstrings of NumPy,", len(of_scipy), "of SciPy")

# %%
# Words become columns. The vectorizer's matrix is sparse and goes in as it is.
words = TfidfVectorizer(min_df=5, token_pattern=r"[a-z]{3,}", sublinear_tf=True)
X = words.fit_transform(of_numpy + of_scipy)
y = np.array(["numpy"] * len(of_numpy) + ["scipy"] * len(of_scipy))
print(X.shape, f"{X.nnz / np.prod(X.shape):.1%} of the entries are not zero")

# %%
# A sparse logistic model, its strength by cross-validation.
model = CertifiedLogisticRegressionCV(Cs=30, eps=0.002, cv=5, selection="1se").fit(X, y)
certificate = model.certificate_
print(certificate)

# %%
# Words that always come together are linearly dependent: weight can move between them at no cost, so nothing can be
# proven of either one. The certificate names such words, if there are any, instead of picking one.
names = words.get_feature_names_out()
print("undecided:", [str(word) for word in names[certificate.undecided]])

# %%
# The strongest words on both sides, all of them proven non-zero.
coef = model.coef_.ravel()
order = [j for j in np.argsort(-np.abs(coef)) if certificate.nonzero[j]][:24]
order.sort(key=lambda j: coef[j])
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
colors = ["tab:orange" if coef[j] < 0 else "tab:blue" for j in order]
ax.barh(names[order], coef[order], color=colors)
ax.axvline(0, color="0.5", linewidth=0.8)
ax.set_xlabel("coefficient: speaks for NumPy to the left, for SciPy to the right")
ax.set_title(f"{certificate.nonzero.sum()} of {len(names)} words are in the model; the strongest of them")
plt.show()
