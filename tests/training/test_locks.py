"""One process at a time in a run directory."""

import errno
import json
import os

import pytest

from ingram.errors import RunError, WriteError
from ingram.training import locks
from ingram.training.checkpoints import RunDirectory
from ingram.training.locks import locked
from tests.training.runs import run_in


def test_the_second_is_refused_and_told_who_is_there(tmp_path):
    with locked(tmp_path), pytest.raises(RunError) as caught, locked(tmp_path):
        pass
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}: in use by process {os.getpid()} on ")
    assert said.endswith("; wait for it to end, or choose another directory")


def test_a_run_that_is_being_trained_is_neither_resumed_nor_begun_anew(tmp_path):
    run_in(tmp_path / "run")
    with RunDirectory(tmp_path / "run").locked(), pytest.raises(RunError, match="in use by"):
        run_in(tmp_path / "run", resume=True)


def test_a_lock_that_a_dead_process_left_is_taken_over(tmp_path):
    (tmp_path / ".lock").write_text(json.dumps({"pid": 1, "host": "here", "since": "long ago"}))
    with locked(tmp_path):
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_whose_owner_cannot_be_read_still_locks(tmp_path):
    with locked(tmp_path):
        (tmp_path / ".lock").write_text("\x00")
        with pytest.raises(RunError, match="in use by another process; wait"), locked(tmp_path):
            pass


def test_a_full_disk_keeps_the_owner_from_being_named_but_not_from_locking(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(locks.os, "write", full)
    with locked(tmp_path), pytest.raises(RunError, match="in use by"), locked(tmp_path):
        pass


def test_a_folder_that_is_gone_is_one_line(tmp_path):
    with pytest.raises(WriteError, match=r"\.lock: cannot be written: No such file"):  # noqa: SIM117
        with locked(tmp_path / "gone"):
            pass
