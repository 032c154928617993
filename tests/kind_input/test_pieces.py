"""Pieces, problems and results: equal, hashable, picklable, shown in words."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from plain import BITS, GAUGES, HARD, SCORES, TARGETS, X, dense_and_sparse, every_gauge, every_loss
from scipy import sparse

import atomsieve
from atomsieve import (
    GCG,
    L1,
    Atoms,
    Away,
    Ball,
    Group,
    Image,
    Linear,
    LinearSquare,
    LineSearch,
    LogBarrier,
    Multinomial,
    NonNegative,
    OpenLoop,
    Pairwise,
    Power,
    Problem,
    Scaled,
    ShortStep,
    Square,
    Status,
    solve,
)

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
        assert re.search("<.*>", shown) or eval(shown, names) == piece  # noqa: S307

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
