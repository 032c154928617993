"""Data with three outputs, as numbers, counts and classes, and with offsets."""

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

RNG = np.random.default_rng(5)
N, D, K = 60, 9, 3
X = RNG.normal(size=(N, D))
Y = X[:, :3] @ RNG.normal(size=(3, K)) + 0.3 * RNG.normal(size=(N, K))
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)
EXPOSURE = RNG.uniform(0.5, 4.0, size=N)
OFFSET = np.log(EXPOSURE)
OFFSETS = 0.5 * RNG.normal(size=(N, K))
COUNTS = RNG.poisson(EXPOSURE[:, None] * np.exp(Y / 4)).astype(float)
LABELS = np.array(["a", "b", "c"])[np.argmax(Y + 0.5 * RNG.normal(size=(N, K)), axis=1)]
FOLDS = KFold(4, shuffle=True, random_state=0)
FRAME = pd.DataFrame(X, columns=[f"f{j}" for j in range(D)])
