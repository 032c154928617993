"""What cannot be solved is refused in a sentence that names the argument and, where there is one, the remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    CertifiedLasso,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LineSearch,
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
    verify,
)

N, D = 12, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = X @ np.array([1.0, -2.0, 0.0, 0.0, 0.5]) + 0.1 * RNG.normal(size=N)
SIGNS = np.where(Y > 0, 1.0, -1.0)
CLASSES = np.arange(N) % 3

NOT_FINITE = [np.nan, np.inf, -np.inf]
NOT_POSITIVE_NUMBERS = [-1.0, 0, np.nan, np.inf, -np.inf, "1", None, 1j, [1.0], np.ones(2), True]
NOT_REAL = {
    "strings": lambda values: values.astype(str),
    "words": lambda values: np.full(values.shape, "high"),
    "objects": lambda values: np.full(values.shape, None),
    "complex numbers": lambda values: values.astype(complex),
    "dates": lambda values: np.full(values.shape, np.datetime64("2020-01-01")),
}
not_real = pytest.mark.parametrize("spoil", NOT_REAL.values(), ids=NOT_REAL.keys())
not_finite = pytest.mark.parametrize("value", NOT_FINITE)


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """Expect an error whose message is a sentence with each of the words (regular expressions, in any case)."""
    with pytest.raises((TypeError, ValueError)) as caught:
        yield
    sentence = str(caught.value)
    assert sentence.endswith("."), f"not a sentence: {sentence}"
    assert len(sentence.split()) >= 4, f"too short to help: {sentence}"
    for word in words:
        assert re.search(word, sentence, re.IGNORECASE), f"does not say {word!r}: {sentence}"


def spoilt(values, value, place=3):
    """Return a copy with one entry replaced."""
    copy = np.array(values, dtype=float)
    copy.flat[place] = value
    return copy


class TestWholeNumbersBeyondDoubles:
    ROUNDED = 2**53 + 1

    def of(self, number, kind=np.int64):
        return (np.arange(N * D).reshape(N, D) + np.array([0, number, 0, 0, 0])).astype(kind)

    @pytest.mark.parametrize(
        "form",
        [
            np.asarray,
            np.asfortranarray,
            np.ndarray.tolist,
            sparse.csr_array,
            sparse.coo_array,
            sparse.dok_array,
            pd.DataFrame,
        ],
    )
    @pytest.mark.parametrize("sign", [1, -1])
    def test_they_are_refused(self, form, sign):
        with refused(r"\bX holds the whole number -?9007\d+, which would be rounded", "Subtract a constant"):
            Problem(form(sign * self.of(self.ROUNDED)), Y)

    def test_largest_of_each_type(self):
        for kind in np.int64, np.uint64:
            with refused("would be rounded"):
                Problem(np.full((N, 1), np.iinfo(kind).max), Y)

    def test_a_column_beside_others_is_named(self):
        frame = pd.DataFrame({"size": X[:, 0], "time": np.arange(N) + self.ROUNDED})
        with refused("Column 'time' of X holds the whole number 9007199254740993"):
            Problem(frame, Y)
        with refused("Column 'time' of X holds the whole number 9007199254740993"):
            CertifiedLasso().fit(frame, Y)
        fitted = CertifiedLasso().fit(frame - [0.0, self.ROUNDED], Y)
        with refused("Column 'time' of X holds"):
            fitted.predict(frame)

    def test_targets(self):
        with refused("y holds the whole number"):
            Problem(X, np.arange(N) + self.ROUNDED)

    def test_those_that_doubles_hold_are_kept(self):
        whole = self.of(0)
        whole[:, 1] = 2**53 + 2 * whole[:, 1]
        whole[:, 2] = -(2**62)
        assert (Problem(whole, Y).data.design.columns(slice(None)) == whole.astype(float)).all()
        assert (Problem(pd.DataFrame(whole), Y).data.design.columns(slice(None)) == whole.astype(float)).all()


class TestNotFinite:
    @not_finite
    @pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
    def test_x(self, form, value):
        with refused(r"\bX\b", "NaN", "infinite", "impute|remove"):
            Problem(form(spoilt(X, value)), Y)

    @not_finite
    def test_x_column_by_column(self, value):
        spoilt_x = spoilt(spoilt(spoilt(X, value, D + 2), value, 2), value, 4)
        word = "NaN" if np.isnan(value) else "infinite"
        for form in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix):
            with refused(rf"in these columns, of {N} rows: column 2 \(2 {word}\), column 4 \(1 {word}\)\. Impute"):
                Problem(form(spoilt_x), Y)
        with refused(rf"of {N} rows: c \(2 {word}\), e \(1 {word}\)\. Impute"):
            Problem(pd.DataFrame(spoilt_x, columns=list("abcde")), Y)

    @not_finite
    def test_x_in_single_precision(self, value):
        with refused(r"\bX\b", "NaN", "infinite"):
            Problem(spoilt(X, value).astype(np.float32), Y)

    def test_infinities_of_both_signs_in_x(self):
        with refused(r"\bX\b", "NaN", "infinite"):
            Problem(spoilt(spoilt(X, np.inf, 0), -np.inf, 1), Y)

    @not_finite
    def test_y(self, value):
        with refused(r"\by\b", "NaN", "infinite", "remove"):
            Problem(X, spoilt(Y, value))

    @not_finite
    @pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Multinomial()])
    def test_labels(self, loss, value):
        with refused(r"\by\b", "NaN", "infinite"):
            Problem(X, spoilt(np.ones(N), value), loss=loss)

    @not_finite
    def test_sample_weight(self, value):
        with refused("sample_weight", "finite"):
            Problem(X, Y, sample_weight=spoilt(np.ones(N), value))

    @not_finite
    def test_free(self, value):
        with refused(r"\bfree\b", "NaN", "infinite"):
            Problem(X, Y, free=spoilt(np.ones((N, 2)), value))

    @not_finite
    def test_start(self, value):
        with refused(r"\bstart\b", "NaN", "infinite"):
            solve(Problem(X, Y), start=spoilt(np.zeros(D), value))

    @pytest.mark.parametrize("gauge", [L1, NonNegative])
    @pytest.mark.parametrize("value", [np.nan, -np.inf])
    def test_coordinate_weights(self, gauge, value):
        with refused(gauge.__name__, "weights", "non-negative"):
            Problem(X, Y, gauge=gauge(spoilt(np.ones(D), value)))

    @not_finite
    def test_group_weights(self, value):
        with refused("Group", "weights", "positive finite"):
            Problem(X, Y, gauge=Group(weights=spoilt(np.ones(D), value)))

    @not_finite
    @pytest.mark.parametrize("gauge", [Atoms, lambda matrix: Image(L1(), matrix)])
    def test_matrix_of_an_image(self, gauge, value):
        with refused("matrix", "NaN", "infinite"):
            Problem(X, Y, gauge=gauge(spoilt(np.eye(D), value)))

    def test_masked_entries_are_missing_values(self):
        with refused(r"\bX\b", "mask|missing"):
            Problem(np.ma.masked_array(X, mask=X > 1), Y)
        with refused(r"\by\b", "mask|missing"):
            Problem(X, np.ma.masked_array(Y, mask=Y > 1))
        model = CertifiedLasso(0.1).fit(X, Y)
        for call in (model.fit, model.score, model.certify):
            with pytest.raises(ValueError, match="X has masked"):
                call(np.ma.masked_array(X, mask=X > 1), Y)
        for call in (model.fit, model.certify):
            with pytest.raises(ValueError, match="y has masked"):
                call(X, np.ma.masked_array(Y, mask=Y > 1))


class TestEmpty:
    @pytest.mark.parametrize("shape", [(0, D), (N, 0), (0, 0)])
    @pytest.mark.parametrize("form", [np.zeros, sparse.csr_array, sparse.csc_matrix])
    def test_x(self, form, shape):
        with refused(r"\bX\b", "empty", "at least one"):
            Problem(form(shape), Y)

    @pytest.mark.parametrize("nothing", [[], [[]]])
    def test_x_as_a_list(self, nothing):
        with refused(r"\bX\b"):
            Problem(nothing, [])

    def test_y(self):
        with refused(r"\by\b", r"\(12,\)"):
            Problem(X, [])

    def test_atoms(self):
        with refused("Atoms", "matrix", "empty"):
            Problem(X, Y, gauge=Atoms(np.zeros((D, 0))))


class TestShapes:
    @pytest.mark.parametrize("data", [X[:, 0], X[:, :, None], 3.0, list(X[:, 0])])
    def test_x_must_have_two_dimensions(self, data):
        with refused(r"\bX\b", "two dimensions", "reshape"):
            Problem(data, Y)

    @pytest.mark.parametrize("data", [None, "X", {"a": 1.0}])
    def test_x_must_be_an_array(self, data):
        with refused(r"\bX\b"):
            Problem(data, Y)

    def test_rows_of_x_must_have_equal_length(self):
        with refused(r"\bX\b"):
            Problem([[1.0, 2.0], [3.0]], [1.0, 2.0])

    @pytest.mark.parametrize("column", [Y[:, None], pd.DataFrame({"target": Y})])
    def test_y_as_a_column(self, column):
        with refused(r"\by\b", r"\(12, 1\)", "ravel"):
            Problem(X, column)

    @pytest.mark.parametrize("targets", [Y[:-1], np.append(Y, 0.0), np.zeros((N, 2, 2)), Y[None, :], 3.0])
    def test_y_must_have_one_target_per_row(self, targets):
        with refused(r"\by\b", r"\(12,\)", re.escape(str(np.shape(targets)))):
            Problem(X, targets)

    @pytest.mark.parametrize("targets", [None, [[1.0], [2.0, 3.0]]])
    def test_y_must_be_an_array(self, targets):
        with refused(r"\by\b"):
            Problem(X, targets)

    @pytest.mark.parametrize("weights", [np.ones(N - 1), np.ones((N, 1)), 1.0])
    def test_sample_weight(self, weights):
        with refused("sample_weight", r"\(12,\)", re.escape(str(np.shape(weights)))):
            Problem(X, Y, sample_weight=weights)

    @pytest.mark.parametrize("free", [np.ones(N - 1), np.ones((N - 1, 2)), np.ones((2, N)), np.ones((N, 1, 1)), 1.0])
    def test_free(self, free):
        with refused(r"\bfree\b", r"\(12, k\)"):
            Problem(X, Y, free=free)

    @pytest.mark.parametrize("start", [np.zeros(D - 1), np.zeros((D, 1)), 0.0, np.zeros((N, D))])
    def test_start(self, start):
        with refused(r"\bstart\b", r"\(5,\)", re.escape(str(np.shape(start)))):
            solve(Problem(X, Y), start=start)

    def test_start_of_a_matrix_problem(self):
        with refused(r"\bstart\b", r"\(5, 3\)"):
            solve(Problem(X, CLASSES, loss=Multinomial()), start=np.zeros(D))

    def test_start_from_the_result_of_another_problem(self):
        other = solve(Problem(X[:, :3], Y), max_iter=1)
        with refused(r"\bstart\b", r"\(5,\)", r"\(3,\)"):
            solve(Problem(X, Y), start=other)

    @pytest.mark.parametrize("gauge", [L1, NonNegative])
    @pytest.mark.parametrize("weights", [np.ones(D - 1), np.ones((D, 1)), 1.0])
    def test_coordinate_weights(self, gauge, weights):
        with refused(gauge.__name__, "weights", r"\(5,\)"):
            Problem(X, Y, gauge=gauge(weights))

    @pytest.mark.parametrize("wrap", [lambda gauge: gauge, lambda gauge: Scaled(gauge, 2.0)], ids=["L1", "Scaled"])
    def test_positive_coordinates(self, wrap):
        with refused("L1", "positive", "one truth value per coordinate", "5 in all", r"\(4,\)"):
            Problem(X, Y, gauge=wrap(L1(positive=[True] * (D - 1))))

    def test_positive_coordinates_of_an_image(self):
        with refused("L1", "positive", "3 in all"):
            Problem(X, Y, gauge=Image(L1(positive=[True] * D), np.ones((D, 3))))

    def test_positive_coordinates_beside_weights(self):
        with refused("L1", "weights and positive", r"\(5,\)", r"\(4,\)"):
            L1(np.ones(D), positive=[True] * (D - 1))

    @pytest.mark.parametrize("groups", [[0, 0, 1], [[0, 0, 0, 1, 1]], 0, "aabbc"])
    def test_groups(self, groups):
        with refused("Group", "groups", "one label per feature"):
            Problem(X, Y, gauge=Group(groups))

    @pytest.mark.parametrize("weights", [[1.0], np.ones(D), 1.0])
    def test_group_weights(self, weights):
        with refused("Group", "weights", "one number per group", "2 in all"):
            Problem(X, Y, gauge=Group([0, 0, 1, 1, 1], weights))

    @pytest.mark.parametrize("gauge", [Image(L1(), np.eye(D - 1)), Image(L2(), np.ones((D + 1, D))), Atoms(np.eye(2))])
    def test_matrix_of_an_image_has_one_row_per_feature(self, gauge):
        with refused(type(gauge).__name__, "matrix", "one row per feature", "5 in all"):
            Problem(X, Y, gauge=gauge)

    def test_matrix_of_an_image_has_two_dimensions(self):
        with refused("Image", "matrix", "two dimensions"):
            Problem(X, Y, gauge=Image(L1(), np.ones(D)))

    def test_gauge_inside_an_image_is_checked_as_well(self):
        with refused("L1", "weights", r"\(3,\)"):
            Problem(X, Y, gauge=Image(L1(np.ones(D)), np.ones((D, 3))))

    def test_gauge_inside_a_scaled_one_is_checked_as_well(self):
        with refused("L1", "weights", r"\(5,\)"):
            Problem(X, Y, gauge=Scaled(L1(np.ones(3)), 2.0))


class TestNotNumbers:
    @not_real
    def test_x(self, spoil):
        with refused(r"\bX\b", "real numbers"):
            Problem(spoil(X), Y)

    @pytest.mark.parametrize("path", ["X.npy", Path("folder/X.npy")])
    def test_a_path_is_no_matrix(self, path):
        with refused(r"\bX\b", "path", "read it first"):
            Problem(path, Y)
        with refused(r"\bX\b", "path", "read it first"):
            verify(solve(Problem(X, Y)).certificate(), path, Y)

    def test_a_container_is_no_matrix(self):
        with refused(r"\bX\b", r"X\['train'\]"):
            Problem({"train": X}, Y)

    def test_complex_sparse_x(self):
        with refused(r"\bX\b", "real numbers", "complex"):
            Problem(sparse.csr_array(X.astype(complex)), Y)

    def test_data_frame_with_a_column_of_words(self):
        with refused(r"\bX\b", "real numbers"):
            Problem(pd.DataFrame(X).assign(colour="red"), Y)

    @not_real
    def test_y(self, spoil):
        with refused(r"\by\b", "real numbers", "encode"):
            Problem(X, spoil(Y))

    @pytest.mark.parametrize("loss", [Logistic(), Multinomial()])
    def test_class_names(self, loss):
        with refused(r"\by\b", "real numbers", "encode"):
            Problem(X, np.where(Y > 0, "yes", "no"), loss=loss)

    @not_real
    def test_sample_weight(self, spoil):
        with refused("sample_weight"):
            Problem(X, Y, sample_weight=spoil(np.ones(N)))

    def test_sample_weight_by_name(self):
        with refused("sample_weight"):
            Problem(X, Y, sample_weight="balanced")

    @not_real
    def test_free(self, spoil):
        with refused(r"\bfree\b"):
            Problem(X, Y, free=spoil(np.ones((N, 2))))

    def test_sparse_free(self):
        with refused(r"\bfree\b", "dense|sparse|toarray"):
            Problem(X, Y, free=sparse.csr_array(np.ones((N, 2))))

    @not_real
    def test_start(self, spoil):
        with refused(r"\bstart\b"):
            solve(Problem(X, Y), start=spoil(np.zeros(D)))

    @pytest.mark.parametrize("start", [Problem(X, Y), GCG(), "warm"])
    def test_start_of_another_kind(self, start):
        with refused(r"\bstart\b"):
            solve(Problem(X, Y), start=start)

    @not_real
    @pytest.mark.parametrize("gauge", [L1, NonNegative, lambda weights: Group(weights=weights)])
    def test_gauge_weights(self, gauge, spoil):
        with refused("weights"):
            Problem(X, Y, gauge=gauge(spoil(np.ones(D))))

    @pytest.mark.parametrize(
        "positive",
        [True, "yes", [0, 2], [1.0] * D, [None] * D, ["True"] * D, [[True]] * D, [[True], [True, False]]],
    )
    def test_positive_coordinates(self, positive):
        with refused("L1", "positive", "truth values", "True or False"):
            L1(positive=positive)

    def test_positive_coordinates_that_are_missing(self):
        with refused("L1", "positive", "missing"):
            L1(positive=np.ma.masked_array([True] * D, mask=[True] + [False] * (D - 1)))

    @pytest.mark.parametrize("groups", [[None] * D, [0, 0, np.nan, np.nan, 1]])
    def test_group_labels(self, groups):
        with refused("Group", "groups"):
            Problem(X, Y, gauge=Group(groups))

    @not_real
    def test_matrix_of_an_image(self, spoil):
        with refused("Image", "matrix", "real numbers"):
            Problem(X, Y, gauge=Image(L1(), spoil(np.eye(D))))


class TestLabels:
    @pytest.mark.parametrize("label", [-1, 1])
    def test_one_class_with_intercept_has_no_best_logistic_intercept(self, label):
        with refused("Logistic", "label", "intercept"):
            Problem(X, np.full(N, label), loss=Logistic(), intercept=True)

    def test_one_class_among_the_samples_that_count(self):
        with refused("Logistic", "positive weight", "intercept"):
            Problem(X, SIGNS, loss=Logistic(), intercept=True, sample_weight=SIGNS > 0)

    @pytest.mark.parametrize("labels", [np.zeros(N), np.ones(N), 2 * (CLASSES > 0)])
    @pytest.mark.parametrize("classes", [None, 3])
    def test_missing_class_with_intercept_has_no_best_multinomial_intercept(self, labels, classes):
        with refused("Multinomial", "class", "intercept"):
            Problem(X, labels, loss=Multinomial(classes), intercept=True)

    def test_class_missing_among_the_samples_that_count(self):
        with refused("Multinomial", "positive weight", "class 1", "intercept"):
            Problem(X, CLASSES, loss=Multinomial(), intercept=True, sample_weight=CLASSES != 1)

    @pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
    @pytest.mark.parametrize("labels", [(SIGNS + 1) / 2, Y > 0, CLASSES, Y, 2 * SIGNS])
    def test_binary_losses_need_signs(self, loss, labels):
        with refused(type(loss).__name__, r"\by\b", "-1 and 1", re.escape("2 * y - 1"), "Multinomial"):
            Problem(X, labels, loss=loss)

    @pytest.mark.parametrize("classes", [None, 3])
    @pytest.mark.parametrize("labels", [CLASSES - 1, CLASSES + 0.5])
    def test_multinomial_needs_whole_numbers_from_zero(self, labels, classes):
        with refused("Multinomial", r"\by\b", "whole numbers from 0", "encode"):
            Problem(X, labels, loss=Multinomial(classes))

    @pytest.mark.parametrize("labels", [CLASSES + 1, CLASSES * 10.0**10, CLASSES * 1e300])
    def test_multinomial_labels_beyond_the_number_of_classes(self, labels):
        with refused("Multinomial", r"\by\b", "from 0 to 2"):
            Problem(X, labels, loss=Multinomial(3))

    @pytest.mark.parametrize("labels", [CLASSES * 10**15, CLASSES * 1e15, CLASSES * 1e300])
    def test_identifiers_are_not_class_numbers(self, labels):
        with refused("Multinomial", r"\by\b", "class", "encode"):
            Problem(X, labels, loss=Multinomial())

    @pytest.mark.parametrize("classes", [0, -1, 2.5, "3", np.nan, np.inf])
    def test_number_of_classes(self, classes):
        with refused("Multinomial", r"\bclasses\b"):
            Problem(X, np.zeros(N, dtype=int), loss=Multinomial(classes))


class TestWeights:
    def test_negative_sample_weight(self):
        with refused("sample_weight", "not negative"):
            Problem(X, Y, sample_weight=spoilt(np.ones(N), -1.0))

    @pytest.mark.parametrize("zeros", [np.zeros(N), np.zeros(N, dtype=bool), [0] * N])
    def test_all_zero_sample_weight(self, zeros):
        with refused("sample_weight", "zero for every sample", "at least one"):
            Problem(X, Y, sample_weight=zeros)

    @pytest.mark.parametrize("gauge", [L1, NonNegative])
    def test_negative_coordinate_weights(self, gauge):
        with refused(gauge.__name__, "weights", "non-negative", "unpenalised", "excludes"):
            Problem(X, Y, gauge=gauge(spoilt(np.ones(D), -1.0)))

    @pytest.mark.parametrize("value", [0.0, -1.0])
    def test_group_weights_must_be_positive(self, value):
        with refused("Group", "weights", "positive", "free"):
            Problem(X, Y, gauge=Group(weights=spoilt(np.ones(D), value)))

    def test_coordinate_free_in_one_output_only(self):
        weights = np.ones((D, 3))
        weights[1, 2] = 0.0
        with refused("L1", "weight of 0", "every output"):
            Problem(X, CLASSES, loss=Multinomial(), gauge=L1(weights))


class TestParameters:
    @pytest.mark.parametrize("value", NOT_POSITIVE_NUMBERS, ids=repr)
    @pytest.mark.parametrize(
        ("piece", "name"),
        [
            (Linear, "strength"),
            (Square, "strength"),
            (Power, "strength"),
            (LinearSquare, "strength"),
            (LinearSquare, "square"),
            (Ball, "radius"),
            (LogBarrier, "radius"),
            (LogBarrier, "sharpness"),
            (Huber, "delta"),
            (OpenLoop, "scale"),
            (OpenLoop, "shift"),
        ],
    )
    def test_must_be_positive_finite_numbers(self, piece, name, value):
        with refused(piece.__name__, rf"\b{name}\b", "positive finite number"):
            piece(**{name: value})

    @pytest.mark.parametrize("value", NOT_POSITIVE_NUMBERS, ids=repr)
    def test_radius_of_a_scaled_gauge(self, value):
        with refused("Scaled", "radius", "positive finite number"):
            Scaled(L1(), value)

    @pytest.mark.parametrize("penalty", [Linear(), Square(), Power(), LinearSquare(), Ball(), LogBarrier()])
    @pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, None])
    def test_same_penalty_at_a_bad_strength(self, penalty, value):
        with refused(type(penalty).__name__, "strength|radius", "positive finite number"):
            penalty.at(value)

    @pytest.mark.parametrize("p", [1, 1.0, 0.5, 0, -2.0, np.nan, -np.inf])
    def test_power_at_most_one(self, p):
        with refused("Power", r"\bp\b", "greater than 1", "Linear"):
            Power(1.0, p)

    @pytest.mark.parametrize("p", ["2", None, 2j, [2.0], np.full(2, 2.0)], ids=repr)
    def test_power_that_is_not_a_number(self, p):
        with refused("Power", r"\bp\b", "greater than 1"):
            Power(1.0, p)


class TestWrongKind:
    @pytest.mark.parametrize("name", ["loss", "gauge", "penalty"])
    def test_class_instead_of_an_instance(self, name):
        piece = {"loss": Logistic, "gauge": L1, "penalty": Square}[name]
        with refused(rf"\b{name}\b", "instance", rf"{piece.__name__}\("):
            Problem(X, SIGNS, **{name: piece})

    @pytest.mark.parametrize(
        ("name", "piece"),
        [
            ("loss", None),
            ("loss", "logistic"),
            ("loss", L1()),
            ("gauge", None),
            ("gauge", "l1"),
            ("gauge", Square(1.0)),
            ("penalty", None),
            ("penalty", 0.1),
            ("penalty", Squared()),
        ],
    )
    def test_piece_of_another_kind(self, name, piece):
        with refused(rf"\b{name}\b", type(piece).__name__):
            Problem(X, Y, **{name: piece})

    @pytest.mark.parametrize("gauge", [lambda inner: Scaled(inner, 2.0), lambda inner: Image(inner, np.eye(D))])
    @pytest.mark.parametrize("inner", [L1, None, Square(1.0)])
    def test_gauge_inside_a_gauge(self, gauge, inner):
        with refused("gauge"):
            Problem(X, Y, gauge=gauge(inner))

    @pytest.mark.parametrize("intercept", [np.ones(N), "no"])
    def test_intercept(self, intercept):
        with refused("intercept"):
            Problem(X, Y, intercept=intercept)

    @pytest.mark.parametrize("problem", [None, X, (X, Y), Problem, 3])
    def test_problem(self, problem):
        with refused("Problem"):
            solve(problem)

    def test_data_instead_of_a_problem(self):
        with refused("Problem"):
            solve(X, Y)

    @pytest.mark.parametrize("method", [GCG, Away, Pairwise])
    def test_method_class_instead_of_an_instance(self, method):
        with refused("method", "instance", rf"{method.__name__}\("):
            solve(Problem(X, Y), method)

    @pytest.mark.parametrize("method", ["pairwise", LineSearch(), Y, Square(1.0)])
    def test_method(self, method):
        with refused("method"):
            solve(Problem(X, Y), method)

    @pytest.mark.parametrize("method", [GCG, Away, Pairwise])
    @pytest.mark.parametrize("step", [LineSearch, "line search", None, 0.5])
    def test_step(self, method, step):
        with refused("step"):
            solve(Problem(X, Y), method(step))

    @pytest.mark.parametrize("callbacks", [print, [3], 3, "print"])
    def test_callbacks(self, callbacks):
        with refused("callbacks"):
            solve(Problem(X, Y), callbacks=callbacks)


class TestLimits:
    @pytest.mark.parametrize("screening", ["none", "safe", "", None, True])
    def test_screening(self, screening):
        with refused("screening", "auto", "paper", "off"):
            solve(Problem(X, Y), screening=screening)

    @pytest.mark.parametrize("tol", [-1e-6, np.nan, np.inf, "small", None])
    def test_tol(self, tol):
        with refused(r"\btol\b", "not negative"):
            solve(Problem(X, Y), tol=tol)

    @pytest.mark.parametrize("max_iter", [-1, 1.5, np.nan, np.inf, "many"])
    def test_max_iter(self, max_iter):
        with refused("max_iter", "whole number", "not negative"):
            solve(Problem(X, Y), max_iter=max_iter)

    @pytest.mark.parametrize("time_limit", [-1.0, 0.0, np.nan, "long"])
    def test_time_limit(self, time_limit):
        with refused("time_limit", "positive", "seconds"):
            solve(Problem(X, Y), time_limit=time_limit)


class TestNoSolution:
    @pytest.mark.parametrize("method", [GCG(), GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise()])
    def test_linear_penalty_has_no_bounded_oracle(self, method):
        with refused(type(method).__name__, "Linear", "unbounded", "Corrective", "Square", "Ball"):
            solve(Problem(X, Y, penalty=Linear(0.1)), method)

    @pytest.mark.parametrize("method", [Away, Pairwise])
    def test_open_loop_steps_do_not_fit_moves_of_their_own_length(self, method):
        with refused(method.__name__, "step", "OpenLoop", "LineSearch", "ShortStep"):
            solve(Problem(X, Y), method(OpenLoop()))

    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("free", [Y, np.column_stack([Y, X[:, 0]]), 1e-6 * Y, 1e6 * Y])
    def test_free_directions_that_separate_the_signs(self, free, intercept):
        with refused("free", "infinity", "separate", "penalise"):
            solve(Problem(X, SIGNS, loss=Logistic(), free=free, intercept=intercept))

    def test_free_constant_with_one_class(self):
        with refused("free", "separate"):
            solve(Problem(X, np.ones(N), loss=Logistic(), free=np.ones(N)))

    def test_unpenalised_coordinate_that_separates_the_signs(self):
        with refused("weights of 0", "separate"):
            solve(Problem(X, np.sign(X[:, 0]), loss=Logistic(), gauge=L1([0.0, 1.0, 1.0, 1.0, 1.0])))

    @pytest.mark.parametrize("intercept", [False, True])
    def test_free_directions_that_separate_one_class_of_three(self, intercept):
        labels = np.where(X[:, 0] > 0, 2, CLASSES % 2)
        with refused("free", "separate"):
            solve(Problem(X, labels, loss=Multinomial(), free=np.where(labels == 2, 1.0, -1.0), intercept=intercept))

    @pytest.mark.parametrize("intercept", [False, True])
    def test_free_directions_that_separate_all_but_the_samples_they_do_not_see(self, intercept):
        free = np.repeat([-1.0, 0.0, 1.0], [3, 5, 4])
        signs = np.array([-1, -1, -1, 1, -1, 1, -1, 1, 1, 1, 1, 1])
        with refused("free", "separate"):
            solve(Problem(X, signs, loss=Logistic(), free=free, intercept=intercept))

    @pytest.mark.parametrize("gauge", [NonNegative(), Simplex(), Scaled(NonNegative(), 2.0), Atoms(np.eye(D))])
    def test_start_outside_the_cone(self, gauge):
        with refused(r"\bstart\b", "cone", "negative"):
            solve(Problem(X, Y, gauge=gauge), start=spoilt(np.ones(D), -1.0))

    def test_start_where_some_must_not_be_negative(self):
        problem = Problem(X, Y, gauge=L1(positive=[True, True, False, False, False]))
        assert solve(problem, start=[0.0, 1.0, -1.0, 1.0, -1.0]).converged
        with refused(r"\bstart\b", "cone", "negative"):
            solve(problem, start=[0.0, -1.0, 1.0, 1.0, 1.0])

    @pytest.mark.parametrize("positive", [[True, False, True, False, True], [True] * D])
    def test_positive_coordinates_need_a_price(self, positive):
        with refused("L1", "weights", "without a price", "small weight"):
            L1([1.0, np.inf, 0.0, 1.0, 1.0], positive=positive)
        assert L1([1.0, 0.0, np.inf, 0.0, 1.0], positive=[True, False, True, False, True]).unpenalised().tolist() == [
            1,
            3,
        ]

    def test_nonnegative_coordinates_stay_so_without_a_price(self):
        """A weight of 0 makes a coordinate free of charge; it must not make it free of its sign."""
        try:
            result = solve(Problem(X, Y, gauge=NonNegative([1.0, 0.0, 1.0, 1.0, 1.0])))
        except ValueError as error:
            assert re.search("weights.*NonNegative|NonNegative.*weights", str(error))  # noqa: PT017
        else:
            assert result.x.min() >= 0


class TestOverflow:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("scale", [1e160, 1e200, 1e300])
    def test_squares_of_huge_targets(self, scale, intercept):
        with refused("rescale", r"\by\b"):
            solve(Problem(X, scale * Y, intercept=intercept))

    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("scale", [1e160, 1e200, 1e300])
    @pytest.mark.parametrize(("loss", "targets"), [(Squared(), Y), (Logistic(), SIGNS)])
    def test_squares_of_huge_features(self, loss, targets, scale, intercept):
        with refused(r"\bX\b", "rescale"):
            solve(Problem(scale * X, targets, loss=loss, intercept=intercept))

    def test_huge_free_columns_are_scaled(self):
        huge, plain = (solve(Problem(X, Y, free=scale * X[:, 0]), tol=1e-10) for scale in (1e200, 1.0))
        assert huge.x == pytest.approx(plain.x)
        assert huge.free * 1e200 == pytest.approx(plain.free)

    @pytest.mark.parametrize("intercept", [False, True])
    def test_huge_targets_are_no_separation(self, intercept):
        """Huber's loss grows linearly: it can take huge targets, or else must say what is wrong."""
        try:
            result = solve(Problem(X, 1e200 * Y, loss=Huber(), intercept=intercept), max_iter=5)
        except ValueError as error:
            assert "rescale" in str(error).lower()  # noqa: PT017
        else:
            assert np.isfinite(result.objective)
            assert result.status is not Status.DIVERGED


def test_operators_have_no_entries():
    operator = aslinearoperator(np.eye(3))
    certificate = solve(Problem(np.eye(3), np.ones(3))).certificate()
    for use in (
        lambda: CertifiedLasso().fit(operator, np.ones(3)),
        lambda: Problem(np.eye(3), np.ones(3), gauge=Image(L1(), operator)),
        lambda: certificate.predict(operator),
    ):
        with pytest.raises(TypeError, match="its entries are needed: pass an array or a sparse matrix"):
            use()
