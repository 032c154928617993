"""Problems that are built around their solution, so that the truth is known before the problem is.

Chosen are the solution x and b, the slopes of the losses and the slope of the penalty, all of them small whole numbers
(or halves, quarters). With theta the slopes times the weights, A_j . theta must then be minus the pull of entry j,

    S slope price x_j / norm + S ridge x_j   on the support,     in norm at most S slope price off it (equal: a tie).

One entry of each column is not free for that: the one in a sample whose theta is a power of two. Unpenalised columns
have the pull 0. At last come the targets, y = A x + B b - slopes, or the offset for losses whose targets are labels.
All numbers are exact in doubles. `solutions.known` checks the optimality in fractions; what fails there is not used.
"""

import numpy as np
from built_choices import POSITIVE, WITH_PRICES, draw_features, draw_penalty, draw_samples, set_pulls
from built_sheet import Sheet


def build(rng, loss, outputs=1):
    """Return a problem with a loss; None where the draw is no exact problem."""
    traits = []
    samples = draw_samples(rng, loss, outputs)
    if samples is None:
        return None
    features = draw_features(rng, samples, traits, bent=loss in ("Logistic", "Poisson", "Multinomial"))
    penalty, slope = draw_penalty(rng, features, traits)
    set_pulls(features, slope, samples.weights.sum())
    A = _columns(rng, samples, features.pulls, traits)
    if features.single:
        A = _twins(rng, samples, features, A, traits)
        A = _uneven(rng, features, A, traits)
    free = _columns(rng, samples, np.zeros((rng.choice([0, 0, 0, 0, 1, 2]), samples.outputs)), traits)
    if free.shape[1] and rng.random() < 0.2:
        free = np.hstack([free, 2 * free[:, :1]])
        traits.append("dependent free columns")
    return Sheet(rng, loss, samples, features, A, free, penalty, slope, traits).built()


def _columns(rng, samples, pulls, traits):
    """Return whole-number columns with given pulls."""
    theta, pivots = samples.theta, samples.pivots
    A = rng.integers(-3, 4, (len(theta), len(pulls))).astype(float)
    if len(pulls) and rng.random() < 0.1:
        A += 1e6
        traits.append("huge offsets")
    A[pivots] = 0
    A[pivots] = ((-pulls - A.T @ theta) / samples.divisors).T
    return A


def _twins(rng, samples, features, A, traits):
    """Add a twin of a feature: equal, mirrored or scaled, or off by one unit in the last place; or untie a tie."""
    kind = str(rng.choice(["none", "none", "none", "twin", "twin", "near twin", "near tie"]))
    ties = (np.abs(features.ways) == 1).any(axis=1) & ~features.x.any(axis=1)
    priced = np.flatnonzero((features.prices > 0) & (features.prices < np.inf) & (ties if kind == "near tie" else True))
    if kind == "none" or not len(priced):
        return A
    j = int(rng.choice(priced))
    if kind == "near tie":
        traits.append(kind)
        return _nudged(rng, samples, features, A, j)
    for _ in range(int(rng.choice([1, 1, 2]))):
        factors = [1.0]
        if kind == "twin" and features.gauge not in (*POSITIVE, "positive"):
            factors = (
                [1.0, -1.0, 2.0, -0.5] if features.gauge in WITH_PRICES and not features.ridge.any() else [1.0, -1.0]
            )
        factor = float(rng.choice(factors))
        A = np.hstack([A, factor * A[:, j : j + 1]])
        share = factor if features.ridge.any() else float(rng.choice([0.0, 0.5, 1.0])) / factor
        features.x = np.vstack([features.x, features.x[j] * (share if kind == "twin" else 0.0)])
        features.ways = np.vstack([features.ways, np.sign(factor) * features.ways[j]])
        features.pulls = np.vstack([features.pulls, factor * features.pulls[j]])
        features.prices = np.append(features.prices, abs(factor) * features.prices[j])
        features.ridge = np.append(features.ridge, features.ridge[j])
        features.labels = np.arange(features.x.size).reshape(features.x.shape)
        if kind == "near twin":
            A = _nudged(rng, samples, features, A, len(features.x) - 1)
        traits.append(kind)
    return A


def _nudged(rng, samples, features, A, j):
    """Move one entry of a column by one unit in the last place, so that its largest pull gets smaller."""
    c = int(np.abs(features.pulls[j]).argmax())
    theta = samples.theta[:, c] * np.sign(features.pulls[j, c])
    i = int(rng.choice(np.flatnonzero(theta))) if theta.any() else 0
    A = A.copy()
    A[i, j] = np.nextafter(A[i, j], np.copysign(np.inf, theta[i]))
    return A


def _uneven(rng, features, A, traits):
    """Give columns other units, and their prices too."""
    if features.ridge.any() or features.gauge not in WITH_PRICES or rng.random() > 0.3:
        return A
    units = np.exp2(rng.integers(-20, 21, len(features.x)))
    units[(features.prices == 0) | (features.prices == np.inf)] = 1.0
    features.x, features.pulls = features.x / units[:, None], features.pulls * units[:, None]
    features.prices = features.prices * units
    traits.append("uneven units")
    return A * units
