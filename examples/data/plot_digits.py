"""
Ten classes, each pixel decided
===============================

With many classes a sparse model says which pixels speak for or against each digit.
``GaugeClassifier(loss=Logistic())`` sets each class against the rest: ten problems, ten certificates.

The data are scikit-learn's 8 x 8 digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from atomsieve import CriticalFraction, GaugeClassifier, Logistic

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0, stratify=y)
model = GaugeClassifier(loss=Logistic(), penalty=CriticalFraction(0.05)).fit(X_train, y_train)
print(f"accuracy on new digits: {model.score(X_test, y_test):.3f}")

# %%
# One certificate for each class.
for digit, certificate in zip(model.classes_, model.certificate_, strict=True):
    print(f"{digit}: {certificate.zero.sum()} pixels proven zero, {certificate.nonzero.sum()} proven non-zero")

# %%
# Blue pixels speak for the digit and red ones against it. A cross marks a pixel that is proven to play no part.
fig, axes = plt.subplots(2, 5, figsize=(10, 4.4), layout="constrained")
norm = TwoSlopeNorm(0, *(np.array([-1, 1]) * np.abs(model.coef_).max()))
for ax, digit, coef, certificate in zip(axes.ravel(), model.classes_, model.coef_, model.certificate_, strict=True):
    ax.imshow(coef.reshape(8, 8), cmap="RdBu", norm=norm)
    rows, columns = np.nonzero(certificate.zero.reshape(8, 8))
    ax.scatter(columns, rows, marker="x", s=10, color="0.6", linewidths=0.8)
    ax.set_title(f"{digit}: {certificate.nonzero.sum()} pixels", fontsize="medium")
    ax.set_axis_off()
plt.show()
