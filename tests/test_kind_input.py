"""What is unusual but right works, and gives the answer of the plain float64 array that says the same."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import atomsieve
from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    Corrective,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    OpenLoop,
    Pairwise,
    Power,
    Problem,
    Scaled,
    ShortStep,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    Status,
    solve,
)

N, D = 24, 6
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, D))
SCORES = X @ np.array([1.0, -2.0, 0.0, 0.0, 0.5, 0.0]) + 0.5 * RNG.normal(size=N)
WHOLE = RNG.integers(0, 256, size=(N, D)).astype(float)
BITS = (RNG.random(size=(N, D)) < 0.4).astype(float)

TARGETS = {
    Squared(): SCORES,
    Huber(0.5): SCORES,
    Logistic(): np.where(SCORES + RNG.normal(size=N) > 0, 1.0, -1.0),
    SquaredHinge(): np.where(SCORES + RNG.normal(size=N) > 0, 1.0, -1.0),
    Multinomial(): np.digitize(SCORES + RNG.normal(size=N), [-1.0, 1.0]),
}
GAUGES = [
    L1(),
    L1([1.0, 2.0, 0.5, 1.0, 1.0, 3.0]),
    L1(positive=[True, False, True, False, False, True]),
    NonNegative(),
    Simplex(),
    Group([0, 0, 1, 1, 2, 2]),
    Group([0, 1, 0, 2, 1, 2], [1.0, 2.0, 0.5]),
    L2(),
    LInf(),
    Scaled(L1(), 3.0),
    Image(L1(), np.tril(np.ones((D, D)))),
    Atoms(np.hstack([np.eye(D), -np.eye(D), np.ones((D, 1))])),
]
PENALTIES = [Square(0.1), Power(0.1, 3.0), Power(0.1, np.inf), Ball(1.5), LogBarrier(1.5, 2.0), LinearSquare(0.05, 0.1)]
METHODS = [GCG(), GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise(), Corrective()]

every_loss = pytest.mark.parametrize("loss", TARGETS, ids=lambda loss: type(loss).__name__)
every_gauge = pytest.mark.parametrize("gauge", GAUGES, ids=lambda gauge: type(gauge).__name__)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
every_walk = pytest.mark.parametrize("method", METHODS[:-1], ids=repr)  # Corrective is done after a step or two
dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
with_and_without_intercept = pytest.mark.parametrize("intercept", [False, True])


def answer(matrix, y=SCORES, **pieces):
    """Return the result of a problem, solved to high precision."""
    return solve(Problem(matrix, y, **{"penalty": Square(0.1), **pieces}), Pairwise(), tol=1e-10)


def quick_answer(matrix, y=SCORES, *, start=None, method=Pairwise(), **pieces):  # noqa: B008
    """Return the result of a problem, solved to the accuracy that every gauge and method reaches soon."""
    return solve(Problem(matrix, y, **{"penalty": Square(0.1), **pieces}), method, tol=0.002, start=start)


def assert_same(result, other, atol=1e-4):
    """Both runs found the optimum, and it is the same one."""
    assert result.converged
    assert other.converged
    np.testing.assert_allclose(result.objective, other.objective, rtol=1e-8)
    np.testing.assert_allclose(result.x, other.x, atol=atol)
    np.testing.assert_allclose(result.intercept, other.intercept, atol=atol)


def assert_same_value(result, other):
    """Both runs came close to the optimum, and their bounds of it agree."""
    for run in (result, other):
        assert run.gap <= 0.01 * run.problem.baseline
    slack = 1e-10 * result.problem.baseline
    assert result.dual <= other.objective + slack
    assert other.dual <= result.objective + slack


def assert_sound(result):
    """No number of a result is missing or beyond its bound."""
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.intercept).all()
    assert np.isfinite(result.free).all()
    assert np.isfinite(result.objective)
    assert result.gap >= 0
    assert result.dual <= result.objective
    assert str(result.status).endswith(".")


def strided(matrix):
    wide = np.zeros((len(matrix), 2 * matrix.shape[1]))
    wide[:, ::2] = matrix
    return wide[:, ::2]


def read_only(matrix):
    frozen = matrix.copy()
    frozen.flags.writeable = False
    return frozen


def with_long_indices(matrix):
    longer = sparse.csr_array(matrix)
    return sparse.csr_array(
        (longer.data, longer.indices.astype(np.int64), longer.indptr.astype(np.int64)), longer.shape
    )


def with_unsorted_indices(matrix):
    """Store every row backwards."""
    rows = [np.flatnonzero(row)[::-1] for row in matrix]
    data = np.concatenate([row[index] for row, index in zip(matrix, rows, strict=True)])
    indptr = np.cumsum([0] + [len(index) for index in rows])
    return sparse.csr_array((data, np.concatenate(rows), indptr), matrix.shape)


def with_duplicates(matrix):
    """Store every entry as two halves."""
    entries = sparse.coo_array(matrix)
    halves = np.tile(entries.data / 2, 2)
    return sparse.coo_array((halves, (np.tile(entries.row, 2), np.tile(entries.col, 2))), matrix.shape)


def with_duplicates_in_rows(matrix):
    rows, columns = matrix.shape
    data = np.repeat(matrix.ravel() / 2, 2)
    return sparse.csr_array((data, np.tile(np.repeat(np.arange(columns), 2), rows), 2 * columns * np.arange(rows + 1)))


def with_explicit_zeros(matrix):
    rows, columns = matrix.shape
    return sparse.csr_array((matrix.ravel(), np.tile(np.arange(columns), rows), columns * np.arange(rows + 1)))


def frozen_sparse(matrix):
    frozen = with_unsorted_indices(matrix)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    return frozen


FORMS = {
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "long double": lambda a: a.astype(np.longdouble),
    "big endian": lambda a: a.astype(">f8"),
    "int64": lambda a: a.astype(np.int64),
    "uint8": lambda a: a.astype(np.uint8),
    "Fortran order": np.asfortranarray,
    "strided columns": strided,
    "strided rows": lambda a: np.repeat(a, 2, axis=0)[::2],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "transpose of a view": lambda a: strided(a.T).T,
    "slice of a cube": lambda a: np.stack([a, a], axis=2)[:, :, 1],
    "read-only": read_only,
    "list of lists": lambda a: a.tolist(),
    "tuple of tuples": lambda a: tuple(map(tuple, a)),
    "list of arrays": list,
    "data frame": lambda a: pd.DataFrame(a, index=np.arange(len(a))[::-1]),
    "data frame of float and int": lambda a: pd.DataFrame(a).astype({0: int}),
    "data frame of nullable int": lambda a: pd.DataFrame(a).astype("Int64"),
    "data frame of float and nullable int": lambda a: pd.DataFrame(a).astype({0: "Int64"}),
    "csr matrix": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "csc array": sparse.csc_array,
    "coo matrix": sparse.coo_matrix,
    "coo array": sparse.coo_array,
    "lil array": sparse.lil_array,
    "dok array": sparse.dok_array,
    "bsr array": sparse.bsr_array,
    "dia array": sparse.dia_array,
    "sparse float32": lambda a: sparse.csr_array(a.astype(np.float32)),
    "sparse uint8": lambda a: sparse.csc_array(a.astype(np.uint8)),
    "int64 indices": with_long_indices,
    "unsorted indices": with_unsorted_indices,
    "duplicate entries": with_duplicates,
    "duplicate entries in rows": with_duplicates_in_rows,
    "explicit zeros": with_explicit_zeros,
    "read-only sparse": frozen_sparse,
}
BOOLEAN_FORMS = {
    "bool": lambda a: a.astype(bool),
    "list of bool": lambda a: a.astype(bool).tolist(),
    "sparse bool": lambda a: sparse.csr_array(a.astype(bool)),
    "data frame of bool": lambda a: pd.DataFrame(a.astype(bool)),
    "data frame of float and bool": lambda a: pd.DataFrame(a).astype({0: bool}),
    "data frame of int and bool": lambda a: pd.DataFrame(a.astype(int)).astype({0: bool}),
    "data frame of nullable bool": lambda a: pd.DataFrame(a.astype(bool)).astype("boolean"),
}
VECTORS = {
    "float32": lambda v: v.astype(np.float32),
    "big endian": lambda v: v.astype(">f8"),
    "int8": lambda v: v.astype(np.int8),
    "strided": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
    "read-only": read_only,
    "list": lambda v: v.tolist(),
    "tuple": tuple,
    "series": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "series of nullable int": lambda v: pd.Series(v).astype("Int64"),
}
every_vector = pytest.mark.parametrize("form", VECTORS.values(), ids=VECTORS.keys())


class TestFormsOfX:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
    def test_whole_numbers(self, form):
        assert_same(answer(form(WHOLE), penalty=Square(1e4)), answer(WHOLE, penalty=Square(1e4)))

    @pytest.mark.parametrize("form", (FORMS | BOOLEAN_FORMS).values(), ids=(FORMS | BOOLEAN_FORMS).keys())
    def test_zeros_and_ones_with_intercept(self, form):
        assert_same(answer(form(BITS), intercept=True), answer(BITS, intercept=True))

    @pytest.mark.thin(2)
    @pytest.mark.parametrize("dtype", [np.float32, np.float16])
    @every_loss
    def test_low_precision_means_its_own_values(self, loss, dtype):
        low = X.astype(dtype)
        assert_same(
            answer(low, TARGETS[loss], loss=loss, intercept=True),
            answer(low.astype(np.float64), TARGETS[loss], loss=loss, intercept=True),
            atol=0,
        )

    @pytest.mark.parametrize("mode", ["r", "c", "r+"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_memory_map(self, tmp_path, mode, order):
        file = tmp_path / "X.npy"
        np.save(file, np.asarray(X, order=order))
        assert_same(answer(np.load(file, mmap_mode=mode)), answer(X))

    @pytest.mark.thin(2)
    @every_gauge
    @pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray, strided])
    def test_every_gauge(self, gauge, form):
        pieces = {"gauge": gauge, "penalty": LinearSquare(0.05, 0.1), "intercept": True}
        assert_same_value(quick_answer(form(X), **pieces), quick_answer(X, **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_every_loss(self, loss, form, intercept):
        pieces = {"loss": loss, "intercept": intercept}
        assert_same(answer(form(X), TARGETS[loss], **pieces), answer(X, TARGETS[loss], **pieces))


class TestFormsOfVectors:
    @every_vector
    def test_y(self, form):
        whole = np.round(3 * SCORES)
        assert_same(answer(X, form(whole)), answer(X, whole), atol=0)

    @pytest.mark.thin(3)
    @pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Multinomial()])
    @every_vector
    def test_labels(self, loss, form):
        labels = TARGETS[loss].astype(float)
        assert_same(answer(X, form(labels), loss=loss), answer(X, labels, loss=loss), atol=0)

    def test_bool_targets_are_zeros_and_ones(self):
        assert_same(answer(X, SCORES > 0), answer(X, (SCORES > 0).astype(float)), atol=0)
        assert_same(
            answer(X, SCORES > 0, loss=Multinomial()), answer(X, (SCORES > 0).astype(int), loss=Multinomial()), atol=0
        )

    @every_vector
    def test_sample_weight(self, form):
        weights = np.arange(N) % 4.0
        assert_same(answer(X, sample_weight=form(weights)), answer(X, sample_weight=weights), atol=0)

    @every_vector
    def test_free(self, form):
        free = np.round(3 * SCORES) % 5
        result, plain = answer(X, free=form(free)), answer(X, free=free[:, None])
        assert_same(result, plain, atol=0)
        np.testing.assert_array_equal(result.free, plain.free)

    @pytest.mark.parametrize("form", [pd.DataFrame, np.asfortranarray, strided, list, read_only])
    def test_free_with_several_columns(self, form):
        free = BITS[:, :2]
        assert_same(answer(X, free=form(free), intercept=True), answer(X, free=free, intercept=True))

    def test_free_without_columns(self):
        result = answer(X, free=np.zeros((N, 0)))
        assert_same(result, answer(X), atol=0)
        assert result.free.shape == (0,)

    @every_vector
    def test_start(self, form):
        problem = Problem(X, SCORES, penalty=Square(0.1))
        start = np.array([2.0, -1.0, 0.0, 0.0, 1.0, 0.0])
        result, plain = solve(problem, Pairwise(), start=form(start)), solve(problem, Pairwise(), start=start)
        np.testing.assert_array_equal(result.x, plain.x)

    @pytest.mark.thin(3)
    @every_vector
    @pytest.mark.parametrize("gauge", [L1, NonNegative, lambda weights: Group(weights=weights)])
    def test_gauge_weights(self, gauge, form):
        weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
        assert_same(answer(X, gauge=gauge(form(weights))), answer(X, gauge=gauge(weights)), atol=0)

    @pytest.mark.parametrize(
        "groups",
        [list("aabbcc"), np.array([7, 7, 8, 8, 99, 99]), pd.Series([0.5, 0.5, 1, 1, 2, 2]), (0, 0, 1, 1, 2, 2)],
    )
    def test_group_labels(self, groups):
        named, numbered = quick_answer(X, gauge=Group(groups)), quick_answer(X, gauge=Group([0, 0, 1, 1, 2, 2]))
        np.testing.assert_array_equal(named.x, numbered.x)

    @pytest.mark.parametrize("strength", [1, np.float32(1.0), np.int64(1), np.float64(1.0)])
    def test_numbers_of_other_types(self, strength):
        for penalty in (Square, LinearSquare, Ball, LogBarrier):
            assert_same(answer(X, penalty=penalty(strength)), answer(X, penalty=penalty(1.0)), atol=0)


class TestDegenerateData:
    @pytest.mark.thin(3)
    @every_gauge
    @every_loss
    def test_zero_column_gets_nothing(self, gauge, loss):
        blank = X.copy()
        blank[:, 2] = 0.0
        result = solve(Problem(blank, TARGETS[loss], loss=loss, gauge=gauge), max_iter=200)
        assert_sound(result)
        if isinstance(gauge, (L1, NonNegative, Simplex)):
            assert not result.x[2].any()

    @pytest.mark.parametrize("gauge", [L1(), NonNegative(), Group(), Simplex()])
    @dense_and_sparse
    def test_zero_column_is_no_column(self, gauge, form):
        blank = X.copy()
        blank[:, 2] = 0.0
        result, without = answer(form(blank), gauge=gauge), answer(form(np.delete(X, 2, axis=1)), gauge=gauge)
        np.testing.assert_allclose(np.delete(result.x, 2), without.x, atol=1e-4)
        np.testing.assert_allclose(result.objective, without.objective, rtol=1e-8)
        assert result.x[2] == 0

    @pytest.mark.thin(3)
    @every_gauge
    @every_method
    def test_nothing_but_zeros(self, gauge, method):
        result = solve(Problem(np.zeros((N, D)), SCORES, gauge=gauge), method)
        assert_sound(result)
        assert result.converged
        assert result.objective == pytest.approx(0.5 * np.mean(SCORES**2))

    @pytest.mark.thin(3)
    @every_penalty
    @pytest.mark.parametrize("loss", [Squared(), Huber(0.5)])
    @pytest.mark.parametrize("constant", [0.1, 1.0, -3.7e5])
    def test_constant_target_is_the_intercept(self, constant, loss, penalty):
        result = solve(Problem(X, np.full(N, constant), loss=loss, penalty=penalty, intercept=True), Pairwise())
        assert result.converged
        assert result.intercept == pytest.approx(constant, rel=1e-12)
        np.testing.assert_allclose(result.x, 0.0, atol=1e-9 * abs(constant))

    @pytest.mark.thin(3)
    @every_gauge
    @every_method
    def test_zero_target_needs_nothing(self, gauge, method):
        result = solve(Problem(X, np.zeros(N), gauge=gauge), method)
        assert result.converged
        assert result.objective == 0
        assert not result.x.any()

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_constant_column_beside_an_intercept_gets_nothing(self, loss, form):
        constant = np.column_stack([np.full(N, 3.0), X])
        result = answer(form(constant), TARGETS[loss], loss=loss, intercept=True)
        without = answer(X, TARGETS[loss], loss=loss, intercept=True)
        np.testing.assert_allclose(result.x[1:], without.x, atol=1e-4)
        np.testing.assert_allclose(result.x[0], 0.0, atol=1e-9)

    @pytest.mark.thin(4)
    @every_loss
    @pytest.mark.parametrize(
        "columns", [np.full((N, 1), 3.0), np.zeros((N, 1)), np.ones((N, 3)), 1e-8 * np.ones((N, 1))]
    )
    def test_free_columns_that_the_intercept_covers_change_nothing(self, loss, columns):
        result = answer(X, TARGETS[loss], loss=loss, intercept=True, free=columns)
        without = answer(X, TARGETS[loss], loss=loss, intercept=True)
        np.testing.assert_allclose(result.x, without.x, atol=1e-4)
        np.testing.assert_allclose(result.objective, without.objective, rtol=1e-8)
        constant = result.intercept + columns[0] @ result.free
        np.testing.assert_allclose(constant, without.intercept, atol=1e-4)

    def test_one_hot_free_columns_beside_an_intercept(self):
        levels = np.eye(4)[np.arange(N) % 4]
        result, without = answer(X, free=levels, intercept=True), answer(X, free=levels)
        np.testing.assert_allclose(result.x, without.x, atol=1e-4)
        np.testing.assert_allclose(result.intercept + levels @ result.free, levels @ without.free, atol=1e-4)

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_duplicated_columns_share_what_one_would_carry(self, loss, form):
        double = answer(form(np.column_stack([X, X[:, 1], X[:, 1]])), TARGETS[loss], loss=loss)
        single = answer(X, TARGETS[loss], loss=loss)
        np.testing.assert_allclose(double.objective, single.objective, rtol=1e-8)
        np.testing.assert_allclose(double.x[1] + double.x[6] + double.x[7], single.x[1], atol=1e-4)
        assert double.alive.reshape(8, -1)[[1, 6, 7]].any(axis=1).all()

    @every_method
    def test_opposite_columns_share_what_one_would_carry(self, method):
        problem = Problem(np.column_stack([X, -X[:, 1]]), SCORES, penalty=Square(0.1))
        result = solve(problem, method, tol=1e-3)
        assert result.converged
        assert result.alive[1]
        assert result.alive[6]

    @pytest.mark.thin(3)
    @every_loss
    @every_gauge
    def test_single_sample(self, loss, gauge):
        y = TARGETS[loss][:1] * 0 + 1
        result = solve(Problem(X[:1], y, loss=loss, gauge=gauge), Pairwise(), max_iter=300)
        assert_sound(result)

    def test_single_sample_with_intercept_is_fitted_by_it(self):
        result = answer(X[:1], SCORES[:1], intercept=True)
        assert result.intercept == pytest.approx(SCORES[0])
        assert not result.x.any()

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("gauge", [L1(), NonNegative(), Simplex(), Group(), L2(), LInf(), Scaled(L1(), 2.0)])
    @dense_and_sparse
    def test_single_feature(self, loss, gauge, form):
        y = TARGETS[loss]
        result = solve(Problem(form(X[:, :1]), y, loss=loss, gauge=gauge, intercept=True), Pairwise())
        assert_sound(result)
        assert result.converged

    def test_single_number(self):
        result = answer([[2.0]], [3.0], penalty=Square(1.0))
        assert result.x == pytest.approx([6.0 / 5.0])

    def test_more_features_than_samples(self):
        assert_sound(answer(X.T, X[0]))

    @pytest.mark.thin(2)
    @every_loss
    @every_method
    @with_and_without_intercept
    def test_strength_beyond_the_largest_score_leaves_nothing(self, loss, method, intercept):
        result = solve(
            Problem(X, TARGETS[loss], loss=loss, penalty=LinearSquare(1e3, 1.0), intercept=intercept), method
        )
        assert result.converged
        assert result.n_iter <= 1
        assert not result.x.any()
        assert not len(result.active.blocks)

    @pytest.mark.parametrize("gauge", [NonNegative(), Simplex()])
    @every_method
    def test_atoms_that_all_point_the_wrong_way_leave_nothing(self, gauge, method):
        result = solve(Problem(np.abs(X), -np.abs(SCORES), gauge=gauge, penalty=Square(0.1)), method)
        assert result.converged
        assert result.n_iter <= 1
        assert not result.x.any()

    @pytest.mark.thin(3)
    @pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e-100, 1e-8, 1e8, 1e100, 1e160, 1e200])
    @every_method
    def test_unit_of_the_features_does_not_matter(self, unit, method):
        """The products stay moderate in any unit; squares of the features alone would overflow or vanish."""
        plain = quick_answer(X, penalty=Ball(1.0), method=method)
        assert_same_value(quick_answer(unit * X, penalty=Ball(1.0 / unit), method=method), plain)

    @pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
    @with_and_without_intercept
    def test_unit_of_the_target_does_not_matter(self, unit, intercept):
        plain = answer(X, SCORES, intercept=intercept)
        other = answer(X, unit * SCORES, intercept=intercept)
        assert other.converged
        np.testing.assert_allclose(other.x / unit, plain.x, atol=1e-4)
        np.testing.assert_allclose(other.intercept / unit, plain.intercept, atol=1e-4)

    @pytest.mark.thin(2)
    @pytest.mark.parametrize("shift", [1e3, -1e6])
    @every_loss
    def test_offset_of_the_features_does_not_matter_with_an_intercept(self, shift, loss):
        plain = answer(X, TARGETS[loss], loss=loss, intercept=True)
        other = solve(Problem(X + shift, TARGETS[loss], loss=loss, penalty=Square(0.1), intercept=True), Pairwise())
        assert other.converged
        np.testing.assert_allclose(other.x, plain.x, atol=1e-2)

    @pytest.mark.parametrize("shift", [1e2, 1e4, -1e6])
    @pytest.mark.parametrize("loss", [Squared(), Huber(0.5)])
    def test_offset_of_the_target_does_not_matter_with_an_intercept(self, shift, loss):
        plain = answer(X, SCORES, loss=loss, intercept=True)
        other = solve(Problem(X, SCORES + shift, loss=loss, penalty=Square(0.1), intercept=True), Pairwise())
        assert other.converged
        np.testing.assert_allclose(other.x, plain.x, atol=1e-2)
        np.testing.assert_allclose(other.intercept - shift, plain.intercept, atol=1e-2)


class TestSampleWeights:
    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_weight_of_zero_leaves_the_sample_out(self, loss, form, intercept):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        assert_same(answer(form(X), y, sample_weight=kept, **pieces), answer(form(X[kept]), y[kept], **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("junk", [-7.0, 99.0, 1e200])
    @with_and_without_intercept
    def test_target_of_a_sample_left_out_may_be_anything(self, loss, junk, intercept):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        result = answer(X, np.where(kept, y, junk), sample_weight=kept, **pieces)
        assert_same(result, answer(X[kept], y[kept], **pieces))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_features_of_a_sample_left_out_may_be_huge(self, loss, form):
        kept = np.arange(N) % 4 != 0
        y = TARGETS[loss]
        result = answer(form(np.where(kept[:, None], X, 1e200 * X)), y, loss=loss, sample_weight=kept)
        assert_same(result, answer(X[kept], y[kept], loss=loss))

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_whole_weights_are_repetitions(self, loss, form, intercept):
        times = np.arange(N) % 3 + 1
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        weighted = answer(form(X), y, sample_weight=times, **pieces)
        assert_same(weighted, answer(form(np.repeat(X, times, axis=0)), np.repeat(y, times), **pieces))

    @every_gauge
    def test_whole_weights_are_repetitions_for_every_gauge(self, gauge):
        times = np.arange(N) % 3
        pieces = {"gauge": gauge, "penalty": LinearSquare(0.05, 0.1), "free": X[:, 0] ** 2}
        weighted = quick_answer(X, sample_weight=times, **pieces)
        repeated = quick_answer(
            np.repeat(X, times, axis=0), np.repeat(SCORES, times), **pieces | {"free": np.repeat(X[:, 0] ** 2, times)}
        )
        assert_same_value(weighted, repeated)

    @pytest.mark.parametrize("scale", [1e-320, 1e-200, 0.5, 1e200, 1e308])
    def test_only_ratios_of_weights_matter(self, scale):
        weights = np.arange(N) % 2 + 0.5
        assert_same(answer(X, sample_weight=scale * weights), answer(X, sample_weight=weights))

    @every_loss
    def test_equal_weights_are_none(self, loss):
        y = TARGETS[loss]
        assert_same(answer(X, y, loss=loss, sample_weight=np.full(N, 7)), answer(X, y, loss=loss))


class TestGaugeWeights:
    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @with_and_without_intercept
    def test_l1_weight_of_zero_is_a_free_column(self, loss, form, intercept):
        y = TARGETS[loss]
        pieces = {"loss": loss, "intercept": intercept}
        priced = answer(form(X), y, gauge=L1([0.0, 1.0, 1.0, 1.0, 1.0, 0.0]), **pieces)
        freed = answer(form(X[:, 1:5]), y, free=X[:, [0, 5]], **pieces)
        np.testing.assert_allclose(priced.objective, freed.objective, rtol=1e-8)
        np.testing.assert_allclose(priced.x[1:5], freed.x, atol=1e-4)
        np.testing.assert_allclose(priced.x[[0, 5]], freed.free, atol=1e-4)
        np.testing.assert_allclose(priced.intercept, freed.intercept, atol=1e-4)

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    @pytest.mark.parametrize("gauge", [L1, NonNegative])
    def test_infinite_weight_leaves_the_column_out(self, loss, form, gauge):
        y = TARGETS[loss]
        priced = answer(form(X), y, loss=loss, gauge=gauge([1.0, np.inf, 1.0, 2.0, 1.0, np.inf]))
        kept = [0, 2, 3, 4]
        without = answer(form(X[:, kept]), y, loss=loss, gauge=gauge([1.0, 1.0, 2.0, 1.0]))
        np.testing.assert_allclose(priced.objective, without.objective, rtol=1e-8)
        np.testing.assert_allclose(priced.x[kept], without.x, atol=1e-4)
        assert not priced.x[[1, 5]].any()

    def test_every_weight_zero_is_least_squares(self):
        result = answer(X, gauge=L1(np.zeros(D)), penalty=Ball(1e-3))
        np.testing.assert_allclose(result.x, np.linalg.lstsq(X, SCORES)[0], rtol=1e-9)
        assert result.converged

    @every_penalty
    def test_every_weight_infinite_leaves_nothing(self, penalty):
        result = answer(X, gauge=L1(np.full(D, np.inf)), penalty=penalty, intercept=True)
        assert result.converged
        assert not result.x.any()
        assert result.intercept == pytest.approx(SCORES.mean())

    def test_start_on_excluded_and_free_coordinates_is_no_obstacle(self):
        weights = [np.inf, 0.0, 1.0, 1.0, 1.0, 1.0]
        problem = Problem(X, SCORES, gauge=L1(weights), penalty=Square(0.1))
        assert_same(solve(problem, Pairwise(), tol=1e-10, start=np.ones(D)), answer(X, gauge=L1(weights)))


class TestNothingIsModified:
    @pytest.mark.thin(4)
    @every_loss
    @every_gauge
    def test_dense(self, loss, gauge):
        y = TARGETS[loss].copy()
        width = 2 * D + 1 if isinstance(gauge, Atoms) else D
        start = np.full((width, 3) if isinstance(loss, Multinomial) else width, 0.01)
        given = [X.copy(), y, np.arange(N) % 3 + 1.0, X[:, 0] ** 2, start]
        before = [array.copy() for array in given]
        for array in given:
            array.flags.writeable = False
        matrix, y, weights, free, start = given
        problem = Problem(matrix, y, loss=loss, gauge=gauge, sample_weight=weights, free=free, intercept=True)
        for method in METHODS:
            assert_sound(solve(problem, method, start=start, max_iter=4))
        for array, was in zip(given, before, strict=True):
            np.testing.assert_array_equal(array, was)

    @pytest.mark.parametrize(
        "form", [with_unsorted_indices, with_duplicates_in_rows, with_explicit_zeros, with_duplicates]
    )
    def test_sparse(self, form):
        matrix, untouched = form(BITS), form(BITS)
        solve(Problem(matrix, SCORES, intercept=True), max_iter=20)
        np.testing.assert_array_equal(matrix.data, untouched.data)
        assert matrix.nnz == untouched.nnz
        if matrix.format == "csr":
            np.testing.assert_array_equal(matrix.indices, untouched.indices)
            np.testing.assert_array_equal(matrix.indptr, untouched.indptr)

    def test_pandas(self):
        frame, series = pd.DataFrame(X), pd.Series(SCORES)
        solve(Problem(frame, series), max_iter=20)
        pd.testing.assert_frame_equal(frame, pd.DataFrame(X))
        pd.testing.assert_series_equal(series, pd.Series(SCORES))

    def test_gauge(self):
        weights, groups, matrix = np.arange(1.0, 7.0), np.array([1, 1, 0, 0, 2, 2]), np.tril(np.ones((D, D)))
        for array in (weights, groups, matrix):
            array.flags.writeable = False
        for gauge in (L1(weights), NonNegative(weights), Group(groups, weights[:3]), Image(L1(weights), matrix)):
            assert_sound(solve(Problem(X, SCORES, gauge=gauge), Pairwise(), max_iter=20))

    def test_result_does_not_change_with_a_later_run_from_it(self):
        problem = Problem(X, SCORES, penalty=Square(0.1))
        first = solve(problem, Pairwise(), max_iter=3)
        x = first.x.copy()
        solve(problem, Pairwise(), start=first)
        np.testing.assert_array_equal(first.x, x)


HARD = Problem(RNG.normal(size=(60, 40)), RNG.normal(size=60), penalty=Square(0.01))


class TestEndings:
    @pytest.mark.parametrize("no", [False, np.False_])
    @every_walk
    def test_callback_that_returns_false_stops(self, method, no):
        result = solve(
            HARD, method, tol=0.0, max_iter=20, callbacks=[lambda progress: no if progress.iteration == 4 else None]
        )
        assert result.status is Status.STOPPED
        assert result.n_iter == 3
        assert_sound(result)

    @pytest.mark.parametrize("other", [None, True, 0, "no"])
    def test_callback_that_returns_anything_else_does_not_stop(self, other):
        result = solve(HARD, Pairwise(), max_iter=5, tol=0.0, callbacks=[lambda _: other])
        assert result.status is Status.MAX_ITER

    def test_every_callback_sees_every_iteration(self):
        first, second = [], []
        solve(HARD, Pairwise(), max_iter=5, tol=0.0, callbacks=(step for step in [first.append, second.append]))
        assert [progress.iteration for progress in first] == [1, 2, 3, 4, 5, 6]
        assert len(second) == 6

    @every_method
    def test_time_limit(self, method):
        result = solve(HARD, method, tol=0.0, time_limit=1e-9)
        assert result.status is Status.TIME_LIMIT
        assert not result.converged
        assert_sound(result)

    @every_walk
    @pytest.mark.parametrize("when", [1, 2, 5])
    def test_interrupt_returns_the_best_point_so_far(self, method, when):
        gaps = []

        def interrupt(progress):
            gaps.append(progress.gap)
            if progress.iteration == when:
                raise KeyboardInterrupt

        result = solve(HARD, method, tol=0.0, callbacks=[interrupt], trace=True)
        assert result.status is Status.INTERRUPTED
        assert not result.converged
        assert result.n_iter == when - 1
        assert result.gap == min(gaps)
        assert len(result.trace) == when
        assert_sound(result)

    def test_interrupt_can_be_resumed(self):
        def interrupt(progress):
            if progress.iteration == 10:
                raise KeyboardInterrupt

        result = solve(HARD, Pairwise(), tol=1e-9, callbacks=[interrupt])
        assert solve(HARD, Pairwise(), tol=1e-9, start=result).converged

    def test_other_errors_of_callbacks_are_not_swallowed(self):
        def fail(_):
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            solve(HARD, callbacks=[fail])

    @every_method
    @pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
    def test_converged_means_gap_within_tolerance(self, method, tol):
        result = solve(HARD, method, tol=tol, max_iter=100)
        assert result.converged == (result.gap <= tol * HARD.baseline)
        assert result.converged or result.status in (Status.MAX_ITER, Status.STALLED, Status.NO_PROGRESS)

    def test_no_iterations_leave_the_start(self):
        result = solve(HARD, max_iter=0)
        assert result.status is Status.MAX_ITER
        assert result.n_iter == 0
        assert result.objective == HARD.baseline

    @every_method
    def test_tolerance_of_zero_ends(self, method):
        result = solve(HARD, method, tol=0.0, max_iter=300)
        assert result.status in (Status.CONVERGED, Status.STALLED, Status.MAX_ITER, Status.NO_PROGRESS)
        assert_sound(result)

    def test_open_loop_steps_may_diverge_for_slow_penalties(self):
        data = np.random.default_rng(0).normal(size=(100, 50))
        problem = Problem(data, np.ones(100), loss=Logistic(), penalty=Power(0.01, 1.2))
        result = solve(problem, GCG(OpenLoop()))
        assert result.status is Status.DIVERGED
        assert "LineSearch" in str(result.status)
        assert_sound(result)
        assert result.objective <= problem.baseline

    @pytest.mark.parametrize("step", [LineSearch(), ShortStep()])
    def test_other_steps_do_not_diverge_for_slow_penalties(self, step):
        data = np.random.default_rng(0).normal(size=(100, 50))
        problem = Problem(data, np.ones(100), loss=Logistic(), penalty=Power(0.01, 1.2))
        result = solve(problem, GCG(step), max_iter=200)
        assert result.status in (Status.MAX_ITER, Status.CONVERGED)
        assert result.objective < problem.baseline
        assert_sound(result)


class TestRuns:
    @pytest.mark.thin(2)
    @every_loss
    @every_method
    def test_same_input_gives_the_same_bits(self, loss, method):
        runs = [
            solve(Problem(X, TARGETS[loss], loss=loss, intercept=True), method, max_iter=30, trace=True)
            for _ in range(2)
        ]
        np.testing.assert_array_equal(runs[0].x, runs[1].x)
        np.testing.assert_array_equal(runs[0].alive, runs[1].alive)
        assert runs[0].gap == runs[1].gap
        frames = [run.trace.to_frame().drop(columns="time") for run in runs]
        pd.testing.assert_frame_equal(frames[0], frames[1], check_exact=True)

    def test_problem_can_be_solved_twice(self):
        problem = Problem(sparse.csr_array(BITS), SCORES, penalty=Square(0.1), intercept=True)
        runs = [solve(problem, Pairwise(), tol=1e-9) for _ in range(2)]
        np.testing.assert_array_equal(runs[0].x, runs[1].x)
        assert runs[0].n_iter == runs[1].n_iter

    @pytest.mark.parametrize("method", [GCG(), GCG(LineSearch()), Away(), Pairwise()])
    @pytest.mark.parametrize("screening", ["auto", "paper", "off"])
    def test_start_at_the_answer_needs_no_step(self, method, screening):
        problem = Problem(X, SCORES, penalty=Square(1.0), intercept=True)
        first = solve(problem, method, tol=1e-2, screening=screening)
        again = solve(problem, method, tol=1e-2, screening=screening, start=first)
        assert first.converged
        assert again.converged
        assert again.n_iter == 0
        np.testing.assert_array_equal(again.x, first.x)

    @pytest.mark.thin(4)
    @pytest.mark.parametrize("method", [GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise()])
    @every_loss
    def test_start_at_a_neighbour_takes_no_more_steps(self, method, loss):
        def at(strength):
            return Problem(X, TARGETS[loss], loss=loss, penalty=Square(strength), intercept=True)

        neighbour = solve(at(0.1), method, tol=1e-3)
        cold, warm = solve(at(0.101), method, tol=1e-3), solve(at(0.101), method, tol=1e-3, start=neighbour)
        assert warm.converged
        assert warm.n_iter <= cold.n_iter
        assert_same_value(warm, cold)

    @every_gauge
    def test_start_from_a_result_of_every_gauge(self, gauge):
        problem = Problem(X, SCORES, gauge=gauge, penalty=Square(0.1), free=X[:, 0] ** 2)
        first = solve(problem, Pairwise(), tol=1e-3)
        again = solve(problem, Pairwise(), tol=1e-3, start=first)
        assert again.n_iter == 0
        np.testing.assert_allclose(again.objective, first.objective, rtol=1e-12)

    @pytest.mark.thin(4)
    @every_gauge
    @pytest.mark.parametrize("method", METHODS[1:], ids=repr)
    def test_answer_does_not_depend_on_the_start(self, gauge, method):
        start = np.full(2 * D + 1 if isinstance(gauge, Atoms) else D, 2.0)
        if not isinstance(gauge, (NonNegative, Simplex, Atoms)):
            negative = np.arange(D) % 2 == 0
            start[negative & ~gauge.positive if getattr(gauge, "positive", None) is not None else negative] = -2.0
        afar = quick_answer(X, gauge=gauge, method=method, start=start, intercept=True)
        assert_same_value(afar, quick_answer(X, gauge=gauge, method=method, intercept=True))
        charge = afar.problem.penalty.value(afar.problem.core.value(afar.lifted))
        loss = np.mean((X @ afar.x + afar.intercept - SCORES) ** 2) / 2
        assert afar.objective == pytest.approx(loss + charge, rel=1e-9)

    @pytest.mark.parametrize("penalty", [Ball(0.5), LogBarrier(0.5), Power(1.0, np.inf)])
    @every_method
    def test_start_outside_the_ball_is_shrunk(self, penalty, method):
        problem = Problem(X, SCORES, penalty=penalty)
        masses = []
        result = solve(
            problem, method, tol=1e-3, start=np.full(D, 1e3), callbacks=[lambda p: masses.append(p.point.state.mass)]
        )
        assert all(penalty.admits(mass) for mass in masses)
        np.testing.assert_allclose(result.objective, solve(problem, method, tol=1e-3).objective, rtol=5e-3)

    @pytest.mark.thin(3)
    @every_loss
    @pytest.mark.parametrize("radius", [1e-6, 0.3, 1e4])
    @pytest.mark.parametrize("method", [*METHODS, Away(ShortStep()), Pairwise(ShortStep())], ids=repr)
    def test_iterates_stay_inside_the_domain(self, loss, radius, method):
        for penalty in (Ball(radius), LogBarrier(radius, 1.0), LogBarrier(radius, 1e6)):
            masses = []
            problem = Problem(X, TARGETS[loss], loss=loss, penalty=penalty, intercept=radius < 1)
            result = solve(
                problem, method, tol=1e-9, max_iter=15, callbacks=[lambda p, m=masses: m.append(p.point.state.mass)]
            )
            assert max(masses) <= radius
            assert isinstance(penalty, Ball) or max(masses) < radius
            assert np.abs(result.x).sum() <= radius * (1 + 1e-12)
            assert_sound(result)

    @pytest.mark.thin(4)
    @pytest.mark.parametrize("method", [GCG(), Pairwise()], ids=repr)
    @every_loss
    @every_gauge
    def test_no_number_is_ever_missing(self, method, loss, gauge):
        for penalty in [*PENALTIES, Power(0.1, 1.5)]:
            problem = Problem(X, TARGETS[loss], loss=loss, gauge=gauge, penalty=penalty, intercept=True)
            assert_sound(solve(problem, method, max_iter=5))

    @every_method
    @every_penalty
    def test_objective_is_what_it_says(self, method, penalty):
        result = solve(Problem(X, SCORES, penalty=penalty, intercept=True), method, max_iter=50)
        residual = X @ result.x + result.intercept - SCORES
        expected = np.mean(residual**2) / 2 + penalty.value(np.abs(result.x).sum())
        assert result.objective == pytest.approx(expected, rel=1e-9)


class TestTrace:
    COLUMNS = ("iteration", "time", "objective", "gap", "alive", "nonzero", "step")

    @every_walk
    def test_frame_has_one_row_per_point(self, method):
        result = solve(HARD, method, max_iter=7, tol=0.0, trace=True)
        frame = result.trace.to_frame()
        assert tuple(frame.columns) == self.COLUMNS
        assert list(frame.iteration) == list(range(1, 9))
        assert frame.time.is_monotonic_increasing
        assert frame.alive.is_monotonic_decreasing
        assert frame.gap.min() == result.gap
        assert frame.objective.iloc[0] == HARD.baseline
        assert frame.nonzero.iloc[0] == 0
        assert frame.drop(columns="step").notna().all(axis=None)
        assert list(frame.step.notna()) == [True] * 7 + [False]

    def test_open_loop_steps_are_recorded(self):
        frame = solve(HARD, GCG(), max_iter=4, tol=0.0, trace=True).trace.to_frame()
        np.testing.assert_array_equal(frame.step[:4], [1, 2 / 3, 2 / 4, 2 / 5])

    def test_frame_is_empty_without_trace(self):
        frame = solve(HARD, max_iter=2).trace.to_frame()
        assert tuple(frame.columns) == self.COLUMNS
        assert not len(frame)


PIECES = [
    *TARGETS,
    Multinomial(4),
    Linear(0.3),
    Square(0.3),
    Power(0.3, 1.5),
    Power(0.3, np.inf),
    Ball(0.3),
    LogBarrier(0.3, 4.0),
    LinearSquare(0.3, 0.7),
    *GAUGES,
    L1(np.arange(3.0)),
    L1((0.0, np.inf, 1.0)),
    L1(positive=[True, False, True]),
    L1(positive=np.array([False, False, True])),
    L1([1.0, 0.0, 1.0], positive=[True, False, True]),
    NonNegative([1, 2]),
    Group(),
    Group(np.array([0, 1, 1]), np.ones(2)),
    Group(list("aab")),
    Scaled(Group([0, 1]), 2.0),
    GCG(),
    GCG(OpenLoop(4.0, 2.0)),
    GCG(LineSearch()),
    Away(),
    Away(ShortStep()),
    Pairwise(),
    OpenLoop(),
    LineSearch(),
    ShortStep(),
]
SPARSE_PIECES = [Image(L1(), sparse.csr_array(np.eye(3))), Atoms(sparse.csc_matrix(np.ones((3, 2))))]
every_piece = pytest.mark.parametrize("piece", PIECES + SPARSE_PIECES, ids=repr)


class TestPieces:
    @every_piece
    def test_pickle_gives_an_equal_piece(self, piece):
        twin = pickle.loads(pickle.dumps(piece))  # noqa: S301
        assert twin == piece
        assert hash(twin) == hash(piece)
        assert repr(twin) == repr(piece)

    @every_piece
    def test_equals_only_itself(self, piece):
        everything = PIECES + SPARSE_PIECES
        assert [other for other in everything if other == piece] == [piece]
        assert piece != repr(piece)

    @pytest.mark.parametrize("piece", PIECES, ids=repr)
    def test_repr_makes_an_equal_piece(self, piece):
        names = vars(atomsieve) | {"array": np.array, "inf": np.inf, "np": np}
        shown = repr(piece)
        assert " array>" in shown or eval(shown, names) == piece  # noqa: S307

    @every_piece
    def test_cannot_be_changed(self, piece):
        with pytest.raises(AttributeError):
            piece.strength = 2.0

    @every_gauge
    def test_use_does_not_change_equality(self, gauge):
        before = hash(gauge)
        solve(Problem(X, SCORES, gauge=gauge), max_iter=2)
        assert hash(gauge) == before
        assert pickle.loads(pickle.dumps(gauge)) == gauge  # noqa: S301

    def test_numbers_that_are_equal_make_equal_pieces(self):
        assert Square(1) == Square(1.0) == Square(np.float64(1.0))
        assert hash(Square(1)) == hash(Square(1.0)) == hash(Square(np.float64(1.0)))

    @pytest.mark.parametrize("gauge", [L1, NonNegative, Group])
    def test_series_make_pieces_that_compare_and_hash(self, gauge):
        piece, twin = gauge(pd.Series([1.0, 2.0])), gauge(pd.Series([1.0, 2.0]))
        assert piece == twin
        assert hash(piece) == hash(twin)
        assert piece != gauge(pd.Series([1.0, 3.0]))

    def test_masks_of_any_kind_make_equal_pieces(self):
        flags = [True, False, True]
        kinds = [flags, tuple(flags), np.array(flags), np.array(flags, dtype=object), pd.Series(flags)]
        pieces = [L1(positive=kind) for kind in [*kinds, pd.Series(flags, dtype="boolean")]]
        assert all(piece == pieces[0] and hash(piece) == hash(pieces[0]) for piece in pieces)
        assert pieces[0] != L1(positive=[True, False, False])
        with pytest.raises(ValueError, match="read-only"):
            pieces[0].positive[0] = False

    def test_sparse_formats_of_one_matrix_make_equal_pieces(self):
        one, other = Image(L1(), sparse.csr_array(BITS)), Image(L1(), sparse.csc_array(BITS))
        assert one == other
        assert hash(one) == hash(other)

    @pytest.mark.thin(3)
    @every_loss
    @dense_and_sparse
    def test_results_and_problems_survive_pickling(self, loss, form):
        problem = Problem(form(X), TARGETS[loss], loss=loss, intercept=True)
        result = solve(problem, Pairwise(), trace=True)
        twin = pickle.loads(pickle.dumps(result))  # noqa: S301
        np.testing.assert_array_equal(twin.x, result.x)
        np.testing.assert_array_equal(twin.alive, result.alive)
        assert twin.gap == result.gap
        assert twin.status is result.status
        assert repr(twin) == repr(result)
        again = solve(pickle.loads(pickle.dumps(problem)), Pairwise())  # noqa: S301
        np.testing.assert_array_equal(again.x, result.x)

    @pytest.mark.parametrize("status", Status)
    def test_status_is_a_sentence(self, status):
        assert str(status) == status.value
        assert str(status)[0].isupper()
        assert str(status).endswith(".")
        assert pickle.loads(pickle.dumps(status)) is status  # noqa: S301

    def test_result_prints_in_one_line(self):
        text = repr(solve(HARD, Pairwise(), max_iter=3))
        assert "MAX_ITER" in text
        assert "\n" not in text
