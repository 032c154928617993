"""A cluster of two processes: the same answers, also if one of them is killed, and for data that do not fit there."""

import contextlib
import os
import signal

import numpy as np
import pytest
from kinds import SIGNS, X, Y, in_dask, library

from atomsieve import CertifiedLassoCV, Linear, Logistic, Problem, path, solve, verify
from atomsieve.numerics import tasks

distributed = library("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of the cluster, when it starts and ends
]
PIECES = {"loss": Logistic(), "penalty": Linear(0.05), "intercept": True}
HELD = {f"distributed.worker.memory.{name}": False for name in ("spill", "pause", "terminate")}
HELD["distributed.worker.memory.target"] = 0.03
"""Of 400 MB a worker may hold 12 in chunks: Python and its libraries take most of the rest."""


@contextlib.contextmanager
def cluster(**options):
    """Yield a client of two processes."""
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, **settings, **options) as local,
        distributed.Client(local, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster() as client:
        yield client


def lose_a_worker(client):
    """Kill one of the processes; its nanny starts another one."""
    pids = client.run(os.getpid)
    os.kill(sorted(pids.values())[0], signal.SIGKILL)


class Killer:
    """Kills a worker at a trip to the workers, once."""

    def __init__(self, client, at):
        self.client, self.left = client, at

    def out(self, _size):
        self.left -= 1
        if self.left == 0:
            lose_a_worker(self.client)

    def back(self, _size):
        """Count nothing."""


@contextlib.contextmanager
def killed_at(client, trip):
    """Kill a worker at a trip within the block, and make sure that it was."""
    killer = Killer(client, trip)
    tasks._watching.append(killer)
    try:
        yield
    finally:
        tasks._watching.remove(killer)
    assert killer.left <= 0


def assert_same(found, expected):
    assert np.abs(found.x - expected.x).max() <= 1e-10
    assert abs(found.gap - expected.gap) <= 1e-12 + 2 * found.point.uncertainty


@pytest.mark.parametrize(
    ("y", "pieces"),
    [(Y, {"penalty": Linear(0.06)}), pytest.param(SIGNS, PIECES, marks=pytest.mark.deep)],
    ids=["squared", "logistic"],
)
def test_the_same_answer_in_two_processes(client, y, pieces):
    assert len(client.scheduler_info()["workers"]) == 2
    found = solve(Problem(in_dask(X), in_dask(y), **pieces), tol=1e-15)
    expected = solve(Problem(X, y, **pieces), tol=1e-15)
    assert_same(found, expected)
    certificate, own = found.certificate(), expected.certificate()
    assert np.array_equal(certificate.zero, own.zero)
    assert np.array_equal(certificate.nonzero, own.nonzero)
    assert certificate.digest == own.digest
    assert verify(certificate, in_dask(X), in_dask(y)).valid


@pytest.mark.deep
@pytest.mark.parametrize("trip", [3, 12])
def test_a_worker_is_killed_in_mid_fit(trip):
    expected = solve(Problem(X, SIGNS, **PIECES), tol=1e-15)
    with cluster() as client:
        problem = Problem(in_dask(X), in_dask(SIGNS), **PIECES)
        with killed_at(client, trip):
            found = solve(problem, tol=1e-15)
        assert_same(found, expected)


@pytest.mark.deep
@pytest.mark.parametrize("trip", [1, 4])
def test_a_worker_is_killed_in_mid_certificate(trip):
    expected = solve(Problem(X, SIGNS, **PIECES), tol=1e-15).certificate()
    with cluster() as client:
        result = solve(Problem(in_dask(X), in_dask(SIGNS), **PIECES), tol=1e-15)
        with killed_at(client, trip):
            certificate = result.certificate()
        assert np.array_equal(certificate.zero, expected.zero)
        assert np.array_equal(certificate.nonzero, expected.nonzero)
        assert certificate.digest == expected.digest


@pytest.mark.deep
def test_a_worker_is_killed_in_mid_path():
    options = {"n": 6, "ratio": 0.1, "tol": 1e-12}
    expected = path(Problem(X, Y, intercept=True), **options)
    with cluster() as client, killed_at(client, 40):
        found = path(Problem(in_dask(X), in_dask(Y), intercept=True), **options)
    assert np.abs(found.coefs - expected.coefs).max() <= 1e-8


@pytest.mark.deep
def test_folds_of_data_in_memory_on_the_workers(client):
    joblib = library("joblib")
    options = {"alphas": 6, "cv": 3, "tol": 1e-11, "n_jobs": 2}
    expected = CertifiedLassoCV(**options).fit(X, Y)
    with joblib.parallel_backend("dask", client=client):
        found = CertifiedLassoCV(**options).fit(X, Y)
    assert found.alpha_ == expected.alpha_
    assert np.array_equal(found.coef_, expected.coef_)


def rows_of_a_file(path, shape, start, height):
    return np.asarray(np.memmap(path, dtype=np.float64, mode="r", shape=shape)[start : start + height])


@pytest.mark.deep
def test_data_larger_than_the_memory_of_the_workers(tmp_path):
    """Chunks that are persisted are put on disk by the workers; what is proven is what memory would have proven."""
    dask, da = library("dask"), library("dask.array")
    shape, height = (60_000, 100), 5_000  # 48 MB, and the two workers may hold 24
    whole = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=shape)
    rng = np.random.default_rng(0)
    for start in range(0, shape[0], height):
        whole[start : start + height] = rng.standard_normal((height, shape[1]))
    y = np.asarray(whole[:, :8].sum(axis=1)) + rng.standard_normal(shape[0])
    whole.flush()
    read = dask.delayed(rows_of_a_file, pure=True)
    blocks = [
        da.from_delayed(read(str(tmp_path / "X.bin"), shape, start, height), (height, shape[1]), dtype=np.float64)
        for start in range(0, shape[0], height)
    ]
    expected = solve(Problem(whole, y, penalty=Linear(0.2)), tol=1e-9)
    with dask.config.set(HELD), cluster(memory_limit="400MB", local_directory=str(tmp_path)) as client:
        found = solve(Problem(da.concatenate(blocks), y, penalty=Linear(0.2)), tol=1e-9)
        certificate = found.certificate()
        spilled = client.run(lambda dask_worker: len(dask_worker.data.slow or ()))
    assert np.abs(found.x - expected.x).max() <= 1e-7
    assert np.array_equal(certificate.zero, expected.certificate().zero)
    assert sum(spilled.values()) > 0
