"""Saving: links are followed, devices are never replaced, and the old file or the new one is whole at any time."""

import os
import pickle
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from atomsieve import CertifiedLasso, Linear, Problem, save_model, solve
from atomsieve.intake import files
from atomsieve.intake.files import write_text

OLD, NEW = "the old content\n", "the new content\n"
X, Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([2.0, 0.0, 2.0])


def certificate():
    return solve(Problem(X, Y, penalty=Linear(0.1))).certificate()


WRITERS = {
    "text": lambda path: write_text(path, NEW),
    "certificate": lambda path: certificate().save(path),
    "model": lambda path: save_model(CertifiedLasso(alpha=0.1).fit(X, Y), path),
}


@pytest.fixture(params=WRITERS)
def writer(request):
    return WRITERS[request.param]


def alone(folder, *names):
    """Whether a folder has just these files: nothing was left behind."""
    return sorted(os.listdir(folder)) == sorted(names)


class TestLinks:
    def test_a_link_is_followed(self, tmp_path, writer):
        target, link = tmp_path / "target.json", tmp_path / "link.json"
        target.write_text(OLD)
        link.symlink_to(target)
        writer(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert target.read_text() != OLD
        assert alone(tmp_path, "target.json", "link.json")

    def test_a_relative_chain_through_a_linked_folder(self, tmp_path):
        deep = tmp_path / "a" / "deep"
        deep.mkdir(parents=True)
        (tmp_path / "short").symlink_to(deep)
        (deep / "first").symlink_to("../second")  # that is a/second: links are read where they lie
        (tmp_path / "a" / "second").symlink_to("target")
        (tmp_path / "a" / "target").write_text(OLD)
        write_text(tmp_path / "short" / "first", NEW)
        assert (tmp_path / "a" / "target").read_text() == NEW
        assert (deep / "first").is_symlink()
        assert alone(tmp_path / "a", "deep", "second", "target")

    def test_a_dangling_link_makes_its_target(self, tmp_path):
        link = tmp_path / "link"
        link.symlink_to("to come")
        write_text(link, NEW)
        assert link.is_symlink()
        assert (tmp_path / "to come").read_text() == NEW

    def test_a_dangling_link_into_a_missing_folder(self, tmp_path):
        (tmp_path / "link").symlink_to("nowhere/file")
        with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere: make it first"):
            write_text(tmp_path / "link", NEW)

    def test_a_loop_is_refused(self, tmp_path):
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(OSError, match="round in a circle"):
            write_text(tmp_path / "a", NEW)
        assert alone(tmp_path, "a", "b")


class TestSpecialFiles:
    def test_null_stays_a_device(self, writer):
        writer("/dev/null")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)

    def test_a_full_device_stays_a_device(self, writer):
        with pytest.raises(OSError, match="No space left"):
            writer("/dev/full")
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)

    def test_a_pipe_is_written_to(self, tmp_path):
        pipe, read = tmp_path / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        write_text(pipe, NEW)
        reader.join(timeout=10)
        assert read == [NEW]
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert alone(tmp_path, "pipe")

    @pytest.mark.parametrize("into", ["pipe", "file"])
    @pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    def test_standard_output_between_two_prints(self, tmp_path, name, into):
        code = f"print('before')\nwrite_text({name!r}, {NEW!r})\nprint('after')"
        with open(tmp_path / "out", "w+") as out:
            found = child(code, stdout=subprocess.PIPE if into == "pipe" else out)
            out.seek(0)
            said = found.stdout.decode() if into == "pipe" else out.read()
        assert said == f"before\n{NEW}after\n"

    def test_a_folder_is_refused(self, tmp_path, writer):
        with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file in it"):
            writer(tmp_path)
        assert alone(tmp_path)


class TestFolders:
    def test_a_missing_folder_is_named(self, tmp_path, writer):
        with pytest.raises(FileNotFoundError, match=r"There is no folder .*missing: make it first") as caught:
            writer(tmp_path / "missing" / "file.json")
        assert "saving" not in str(caught.value)

    def test_a_file_in_place_of_a_folder(self, tmp_path):
        (tmp_path / "file").write_text(OLD)
        with pytest.raises(NotADirectoryError, match="is no folder"):
            write_text(tmp_path / "file" / "other", NEW)

    def test_a_folder_that_allows_no_writing(self, tmp_path):
        locked = tmp_path / "locked"
        locked.mkdir()
        locked.chmod(0o555)
        found = child("write_text('file', 'x')", folder=locked, unprivileged=True)
        assert b"PermissionError" in found.stderr
        assert f"The folder {locked} takes no new file: Permission denied".encode() in found.stderr

    def test_a_folder_that_may_not_be_entered(self, tmp_path):
        (tmp_path / "locked").mkdir()
        (tmp_path / "locked").chmod(0)
        found = child("write_text('locked/file', 'x')", folder=tmp_path, unprivileged=True)
        assert b"locked/file could not be looked at: a folder on the way to it may not be entered" in found.stderr

    def test_a_long_name_that_the_folder_takes(self, tmp_path):
        write_text(tmp_path / ("n" * 255), NEW)
        assert alone(tmp_path, "n" * 255)


class TestReplacing:
    def test_permissions_are_kept(self, tmp_path):
        file = tmp_path / "file"
        file.write_text(OLD)
        file.chmod(0o640)
        write_text(file, NEW)
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def test_a_new_file_has_the_permissions_of_any_other(self, tmp_path):
        write_text(tmp_path / "ours", NEW)
        (tmp_path / "theirs").write_text(NEW)
        assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode

    def test_a_write_protected_file_is_left_alone(self, tmp_path, monkeypatch):
        file = tmp_path / "file"
        file.write_text(OLD)
        monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write anywhere
        with pytest.raises(PermissionError, match="write-protected: choose another name"):
            write_text(file, NEW)
        assert file.read_text() == OLD

    def test_a_full_disk_keeps_the_old_file(self, tmp_path, monkeypatch):
        file = tmp_path / "file"
        file.write_text(OLD)

        def full(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device\. What was there before is unchanged"):
            write_text(file, NEW)
        assert file.read_text() == OLD
        assert alone(tmp_path, "file")

    def test_content_is_on_disk_before_it_takes_the_place(self, tmp_path, monkeypatch):
        happened = []
        replace, fsync = files.Path.replace, os.fsync
        monkeypatch.setattr(files.os, "fsync", lambda handle: (happened.append("fsync"), fsync(handle)))
        monkeypatch.setattr(files.Path, "replace", lambda a, b: (happened.append("replace"), replace(a, b)))
        write_text(tmp_path / "file", NEW)
        assert happened[:2] == ["fsync", "replace"]


class TestKilled:
    """`kill -9` in the middle of a save."""

    @pytest.mark.parametrize(
        ("moment", "left"),
        [("os.fsync", OLD), ("pathlib.Path.replace", OLD), ("globals()['_settle']", NEW)],
    )
    def test_at_a_moment(self, tmp_path, moment, left):
        file = tmp_path / "file"
        file.write_text(OLD)
        patch = f"{moment} = lambda *_: os.kill(os.getpid(), {int(signal.SIGKILL)})"
        patch = patch.replace("globals()", "write_text.__globals__")
        found = child(f"import os, pathlib\n{patch}\nwrite_text({str(file)!r}, {NEW!r})")
        assert found.returncode == -signal.SIGKILL
        assert file.read_text() == left

    def test_at_any_moment(self, tmp_path):
        file = tmp_path / "file"
        contents = ["a" * 3_000_000, "b" * 4_000_000]
        file.write_text(contents[0])
        loop = "while True:\n for c in ('a' * 3_000_000, 'b' * 4_000_000):"
        code = f"print(flush=True)\n{loop} write_text({str(file)!r}, c)"
        for pause in np.linspace(0.001, 0.02, 8):
            with subprocess.Popen([sys.executable, "-c", PRELUDE + code], stdout=subprocess.PIPE) as running:  # noqa: S603
                running.stdout.readline()
                try:
                    running.wait(pause)
                except subprocess.TimeoutExpired:
                    running.kill()
            assert file.read_text() in contents


PRELUDE = f"import runpy\nwrite_text = runpy.run_path({files.__file__!r})['write_text']\n"
"""The module stands alone: without the package a child starts at once."""


def child(code, *, folder=None, unprivileged=False, stdout=subprocess.PIPE):
    drop = "import os\nos.setgid(65534)\nos.setuid(65534)\n" if unprivileged and os.geteuid() == 0 else ""
    command = [sys.executable, "-c", PRELUDE + drop + code]
    return subprocess.run(command, check=False, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, timeout=60)  # noqa: S603


def part_of_a_table(X):
    return np.hstack([X, X])[:, : X.shape[1]]


class TestDigest:
    """A certificate speaks of the data as they were when it was proven."""

    @staticmethod
    def data():
        rng = np.random.default_rng(0)
        return {
            "X": rng.standard_normal((20, 4)),
            "y": rng.standard_normal(20),
            "sample_weight": rng.uniform(1, 2, 20),
            "free": rng.standard_normal((20, 1)),
        }

    @pytest.mark.parametrize("changed", ["y", "sample_weight", "free"])
    def test_later_changes_do_not_reach_it(self, changed, tmp_path):
        data = self.data()
        proven = solve(Problem(**data, penalty=Linear(0.1))).certificate()
        data[changed][:] *= 2
        proven.save(tmp_path / "c.json")
        assert proven.digest == solve(Problem(**self.data(), penalty=Linear(0.1))).certificate().digest

    @pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, part_of_a_table, csr_array, csc_array])
    def test_no_file_about_a_matrix_that_has_changed(self, kind, tmp_path):
        data = self.data()
        data["X"][3, 1] = 0.0
        X = kind(data.pop("X"))
        problem = Problem(X, **data, penalty=Linear(0.1))
        asked, proven = solve(problem).certificate(), solve(problem).certificate()
        before = asked.digest
        entries = X.data if hasattr(X, "indptr") else X
        entries[(-1,) * entries.ndim] = np.nextafter(entries[(-1,) * entries.ndim], 9.0)  # one unit in the last place
        later = solve(problem).certificate()
        asked.save(tmp_path / "c.json")
        assert asked.digest == proven.digest == before != later.digest
        entries[(0,) * entries.ndim] *= -1
        assert later.without_data().digest == later.digest  # it was asked for before the change
        fresh = solve(problem).certificate()
        entries[(0,) * entries.ndim] *= -1
        for use in (lambda: fresh.save(tmp_path / "d.json"), lambda: pickle.dumps(fresh), fresh.without_data):
            with pytest.raises(ValueError, match="X has changed since the proof"):
                use()
        assert not (tmp_path / "d.json").exists()

    @pytest.mark.parametrize("changed", ["y", "sample_weight", "free"])
    def test_a_problem_keeps_its_own_small_data(self, changed):
        data = self.data()
        result = solve(Problem(**data, penalty=Linear(0.1)))
        before = solve(Problem(**self.data(), penalty=Linear(0.1))).certificate()
        data[changed][:] *= -1
        after = result.certificate()
        assert after.digest == before.digest
        assert (after.primal, after.dual) == (before.primal, before.dual)

    def test_a_certificate_holds_no_data(self):
        assert not any(isinstance(value, Problem) for value in vars(certificate()).values())

    def test_entries_of_a_sparse_matrix_exchanged_between_solve_and_proof(self):
        data = self.data()
        S, other = csr_array(data["X"]), np.abs(data["X"]).ravel()
        result = solve(Problem(S, data["y"], penalty=Linear(0.1)))
        S.data = other.copy()  # the matrix is the same object, its entries are not
        proven = result.certificate()
        fresh = Problem(np.abs(data["X"]), data["y"], penalty=Linear(0.1))
        assert proven.digest == solve(fresh).certificate().digest
        best = solve(fresh, tol=1e-13).objective
        assert proven.dual <= best <= proven.primal
