"""Every exported piece obeys its laws, on NumPy and, for losses, on the strict array API."""

import math

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

import atomsieve
from atomsieve import (
    L1,
    L2,
    OSCAR,
    OWL,
    SLOPE,
    Atoms,
    Ball,
    BasePolytope,
    Birkhoff,
    Coverage,
    Group,
    Huber,
    Image,
    KSparse,
    KSupport,
    LatentGroup,
    Linear,
    LinearSquare,
    LInf,
    LogBarrier,
    Logistic,
    LovaszNorm,
    Multinomial,
    NonNegative,
    Nuclear,
    Oracle,
    PathsInDAG,
    Permutahedron,
    Poisson,
    Positive,
    Power,
    Product,
    PSDTrace,
    Scaled,
    Shifted,
    Simplex,
    SpanningTrees,
    SparseGroup,
    Square,
    Squared,
    SquaredHinge,
    TotalVariation,
    TrendFilter,
    Union,
)
from atomsieve.gauges import Gauge
from atomsieve.losses import Loss
from atomsieve.penalties import Penalty
from atomsieve.testing import check_gauge, check_loss, check_penalty

RNG = np.random.default_rng(0)
LOSSES = [Squared(), Logistic(), SquaredHinge(), Huber(), Huber(0.3), Multinomial(), Multinomial(classes=5), Poisson()]
PENALTIES = [
    Linear(0.3),
    Square(2.0),
    Power(0.5, 1.5),
    Power(2.0, 2),
    Power(0.1, 7.0),
    Power(3.0, math.inf),
    Ball(4.0),
    LogBarrier(2.0, 5.0),
    LogBarrier(1e-3, 1e3),
    LinearSquare(0.5, 0.1),
]
GAUGES = [
    (L1(), (6,)),
    (L1(), (4, 3)),
    (L1([1.0, 2.0, 0.5, 3.0]), (4,)),
    (L1([1.0, math.inf, 0.5, 3.0]), (4,)),
    (L1(np.arange(1.0, 13.0).reshape(4, 3)), (4, 3)),
    (L1([1.0, 2.0, 0.5, 3.0]), (4, 3)),
    (L1(positive=[True, False, True, False, False, True]), (6,)),
    (L1([1.0, 0.0, 0.5, math.inf], positive=[True, False, False, True]), (4,)),
    (L1([1.0, 2.0, 0.5, 3.0], positive=[False, True, True, False]), (4, 3)),
    (L1(positive=[True] * 3), (3,)),
    (L1(positive=[False] * 3), (3, 2)),
    (NonNegative(), (5,)),
    (NonNegative([1.0, 2.0, 3.0]), (3,)),
    (NonNegative(), (4, 2)),
    (Simplex(), (5,)),
    (L2(), (5,)),
    (L2(), (5, 2)),
    (LInf(), (5,)),
    (LInf(), (4, 3)),
    (OWL([4.0, 3.0, 2.0, 2.0, 0.0]), (5,)),
    (OWL([3.0, 3.0, 3.0, 2.0, 1.0, 1.0]), (3, 2)),
    (OSCAR(1.0, 0.3), (5,)),
    (SLOPE(0.2), (6,)),
    (KSupport(1), (5,)),
    (KSupport(3), (6,)),
    (KSupport(2), (3, 2)),
    (KSupport(9), (4,)),
    (Nuclear(), (4, 3)),
    (PSDTrace(), (3, 3)),
    (Nuclear(), (2, 5)),
    (KSparse(1), (5,)),
    (KSparse(3), (6,)),
    (KSparse(2), (3, 2)),
    (KSparse(9), (4,)),
    (Scaled(KSupport(2), 0.3), (5,)),
    (Group([0, 0, 1, 1, 1, 2]), (6,)),
    (Group([2, 0, 2, 1, 0, 5], [1.0, 2.0, 0.5, 3.0]), (6,)),
    (Group(), (5, 3)),
    (Group(["b", "a", "b", "a"]), (4, 2)),
    (Positive(L1([1.0, 2.0, 3.0])), (3,)),
    (Positive(L2()), (4,)),
    (Positive(LInf()), (4,)),
    (Positive(Group([0, 0, 1, 1, 1])), (5,)),
    (Positive(SparseGroup([0, 1, 0, 1, 1], 0.3)), (5,)),
    (Positive(OWL([4.0, 3.0, 2.0, 2.0, 0.0])), (5,)),
    (Positive(SLOPE(0.2)), (6,)),
    (Positive(KSupport(3)), (6,)),
    (Positive(KSparse(3)), (3, 2)),
    (Positive(Scaled(SparseGroup(None, 0.4), 0.3)), (4, 2)),
    (SparseGroup([0, 0, 1, 1, 1, 2], 0.3), (6,)),
    (SparseGroup([2, 0, 2, 1, 0, 5], 0.8, [1.0, 2.0, 0.5, 3.0]), (6,)),
    (SparseGroup([0, 0, 1], 0.0), (3,)),
    (SparseGroup([0, 0, 1], 1.0), (3,)),
    (SparseGroup(None, 0.5), (4, 3)),
    (SparseGroup(["b", "a", "b", "a"], 0.2, "equal"), (4, 2)),
    (Scaled(SparseGroup([0, 0, 1, 1]), 0.3), (4,)),
    (Image(SparseGroup([0, 0, 1]), RNG.normal(size=(4, 3))), (4,)),
    (Product([([2, 0], SparseGroup([0, 0])), ([4, 3, 1], SparseGroup([0, 1, 1], 0.2))]), (5,)),
    (Atoms(RNG.normal(size=(4, 9))), (4,)),
    (Atoms(sparse.random_array((5, 8), density=0.5, random_state=RNG)), (5,)),
    (Atoms(RNG.normal(size=(3, 4))), (3, 2)),
    (Scaled(L1(), 3.0), (5,)),
    (Scaled(L1([1.0, 2.0, 3.0]), 0.5), (3, 2)),
    (Scaled(L1(positive=[False, True, True]), 0.5), (3, 2)),
    (Scaled(Group([0, 0, 1]), 2.0), (3,)),
    (Scaled(Scaled(LInf(), 2.0), 3.0), (4,)),
    (Scaled(Atoms(RNG.normal(size=(4, 6))), 2.0), (4,)),
    (Image(L1(), RNG.normal(size=(5, 3))), (5,)),
    (Image(L1(), RNG.normal(size=(3, 6))), (3,)),
    (Image(L1(positive=[True, False, True, True]), RNG.normal(size=(3, 4))), (3,)),
    (Image(L1([1.0, math.inf, 2.0, 1.0], positive=[False, True, True, False]), RNG.normal(size=(3, 4))), (3,)),
    (Image(L1(), sparse.csc_array(np.eye(4))), (4, 2)),
    (Image(Group([0, 0, 1]), RNG.normal(size=(4, 3))), (4,)),
    (Image(Group([0, 0, 1, 1]), RNG.normal(size=(3, 4))), (3,)),
    (Image(Scaled(L2(), 2.0), RNG.normal(size=(4, 4))), (4,)),
    (TotalVariation(), (6,)),
    (TotalVariation(weights=[1.0, 2.0, 0.5]), (4, 2)),
    (TotalVariation(edges=[[0, 1], [3, 1], [1, 2], [4, 2]], weights=[1.0, 2.0, 0.5, 1.0]), (5,)),
    (TotalVariation(edges=[[0, 1], [1, 2], [2, 0], [4, 3]]), (5,)),
    (Scaled(TotalVariation(), 3.0), (5,)),
    (TrendFilter(), (6,)),
    (TrendFilter(2, [1.0, 2.0, np.inf]), (6,)),
    (Image(TotalVariation(), RNG.normal(size=(4, 3))), (4,)),
    (LatentGroup([[0, 1, 2], [2, 3], [3, 4, 0], [5]]), (6,)),
    (LatentGroup({"a": [0, 1], "b": [1, 2]}, weights={"a": 2.0, "b": 0.5}), (3, 2)),
    (Scaled(LatentGroup([[0, 1], [0], [1, 2]], weights="equal"), 3.0), (3,)),
    (Image(LatentGroup([[0, 1], [1, 2]]), RNG.normal(size=(4, 3))), (4,)),
    (Product([([0, 2], L2()), ([1, 3, 4], L1([1.0, 2.0, 3.0]))]), (5,)),
    (Product({"a": ([0, 2], L1([1.0, 0.0])), "b": ([4, 3, 1], NonNegative())}, {"a": 2.0, "b": 0.5}), (5,)),
    (Product([([0, 2], L1([1.0, 3.0])), ([4, 3, 1], L1(positive=[True, False, True]))]), (5, 3)),
    (Product([([0, 2], Group()), ([4, 3, 1], L2())]), (5, 3)),
    (Product([([2, 0], LInf()), ([4, 3, 1], Scaled(LInf(), 3.0))], weights=[2.0, 3.0]), (5,)),
    (Product([([0, 2], LInf()), ([4, 3, 1], NonNegative())]), (5,)),
    (Product([([0, 2, 1], LatentGroup([[0, 1], [1, 2]])), ([4, 3], L1())]), (5,)),
    (Product([([0, 2, 1], NonNegative()), ([4, 3], L2())]), (5,)),
    (Product([([0, 3], Product([([1], L1()), ([0], L2())])), ([1, 2], Union(L1(), L2()))]), (4,)),
    (PathsInDAG([("a", "b"), ("b", "c"), ("a", "c"), ("b", "d"), ("c", "d")], "a", "d"), (5,)),
    (Birkhoff(3), (3, 3)),
    (SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3), (0, 3)]), (5,)),
    (Permutahedron([3.0, 2.0, 0.5, -1.0]), (4,)),
    (BasePolytope(Coverage([[0, 1], [1, 2], [2], [0, 3]])), (4,)),
    (LovaszNorm(Coverage([[0, 1], [1, 2], [2], [0, 3]])), (4,)),
    (Oracle(lambda z: np.where(z < 0, -1.0, 1.0), lambda z, err: (np.abs(z) + err).sum() * (1 + 1e-14)), (5,)),
    (Oracle(lambda z: ([np.abs(z).argmax()], [np.sign(z.ravel()[np.abs(z).argmax()])])), (3, 2)),
    (
        Shifted(Oracle(lambda z: np.eye(4)[z.argmax()], lambda z, err: np.nextafter(z + err, 9e9).max()), np.eye(4)[0]),
        (4,),
    ),
    (Shifted(np.eye(4)), (4,)),
    (Shifted(sparse.eye_array(4, format="csc"), by=-1), (4,)),
    (Shifted(Atoms(RNG.normal(size=(4, 6))), by=RNG.normal(size=4)), (4,)),
    (Union(L1(), Group([0, 0, 1, 1, 1])), (5,)),
    (Union(L1(), Atoms(RNG.normal(size=(4, 6)))), (4,)),
    (Union(Scaled(L1(), 2.0), LatentGroup([[0, 1], [1, 2]])), (3,)),
    (Union(L1(), Image(Image(Group([0, 0, 1]), RNG.normal(size=(4, 3))), RNG.normal(size=(3, 4)))), (3,)),
    (Union(L2(), Union(L1(), LInf())), (3,)),
    (Union(Group(), L2()), (3, 2)),
    (Union(Product([([0, 1], L2()), ([2], L1())]), L1()), (3,)),
    (Scaled(Union(L1(), Scaled(L2(), 0.5)), 2.0), (3,)),
    (Image(Image(L1(), RNG.normal(size=(4, 5))), RNG.normal(size=(3, 4))), (3,)),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_obey_their_laws(loss, xp, seed):
    check_loss(loss, xp=xp, seed=seed)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_penalties_obey_their_laws(penalty):
    check_penalty(penalty)


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("gauge", "shape"), GAUGES, ids=lambda value: type(value).__name__)
def test_gauges_obey_their_laws(gauge, shape, seed):
    check_gauge(gauge, shape, seed=seed)


@pytest.mark.parametrize(
    ("kind", "checked"),
    [(Loss, LOSSES), (Penalty, PENALTIES), (Gauge, [gauge for gauge, _ in GAUGES])],
    ids=["losses", "penalties", "gauges"],
)
def test_every_exported_piece_is_checked(kind, checked):
    exported = {
        value
        for name in atomsieve.__all__
        if isinstance(value := getattr(atomsieve, name), type) and issubclass(value, kind)
    }
    assert exported == {type(piece) for piece in checked}


@pytest.mark.parametrize("loss", [Squared(), Huber(0.7), Poisson(), Logistic(), Multinomial(3)], ids=repr)
def test_means_are_what_targets_are_expected_to_be(loss):
    """Where the target is its mean, or on average over classes of these probabilities, no prediction does better."""
    u = np.random.default_rng(0).standard_normal((50, 3)) if isinstance(loss, Multinomial) else np.linspace(-4, 4, 50)
    mean = loss.mean(u)
    if not loss.probabilistic:
        slopes = loss.gradient(u, mean)
    elif u.ndim == 1:
        ones = np.ones_like(u)
        slopes = mean * loss.gradient(u, ones) + (1 - mean) * loss.gradient(u, -ones)
    else:
        classes = [np.full(len(u), k) for k in range(3)]
        slopes = sum(mean[:, [k]] * loss.gradient(u, y) for k, y in enumerate(classes))
    assert np.allclose(slopes, 0.0, atol=1e-14)
