"""A disk that is full, read-only or gone: one line, nothing half-written, nothing lost."""

import errno
import os
import shutil

import pytest

from ingram.errors import WriteError
from ingram.io import atomic
from ingram.training import Listener, loop
from tests.training.runs import run_in, traces


class Trouble(Listener):
    """Stands in for ``os`` too: from an epoch on, nothing can be opened to be written."""

    def __init__(self, number, epoch=5, tries=3):
        self.number, self.at, self.tries = number, epoch, tries
        self.full, self.said = False, []

    def __getattr__(self, name):
        return getattr(os, name)

    def open(self, path, flags, *rest):
        if self.full and flags & os.O_WRONLY:
            raise OSError(self.number, os.strerror(self.number))
        return os.open(path, flags, *rest)

    def epoch(self, number, loss):
        self.full = self.full or number == self.at

    def save_failed(self, why):
        self.said.append(why)
        self.full = len(self.said) < self.tries


@pytest.fixture
def straight(tmp_path):
    run_in(tmp_path / "straight")
    return traces(tmp_path / "straight")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "No space left on device; make room on the disk"),
        (errno.EROFS, "Read-only file system; choose a folder that can be written to"),
        (errno.EACCES, "Permission denied; choose a folder that you may write to"),
        (errno.ENOENT, "No such file or directory; its folder is gone"),
    ],
)
def test_a_run_that_cannot_save_stops_in_one_line_and_goes_on_later(
    number, said, tmp_path, monkeypatch, straight
):
    run, trouble = tmp_path / "run", Trouble(number)
    with monkeypatch.context() as patch:
        patch.setattr(atomic, "os", trouble)
        with pytest.raises(WriteError) as caught:
            run_in(run, listener=trouble)
    assert str(caught.value).endswith(f"cannot be written: {said}; then go on with --resume")
    assert "\n" not in str(caught.value)
    assert not list(run.rglob("*.tmp"))
    run_in(run, resume=True)
    assert traces(run) == straight


def test_a_run_may_wait_until_it_can_save(tmp_path, monkeypatch, straight):
    monkeypatch.setattr(loop, "RETRY_SECONDS", 0)
    trouble = Trouble(errno.ENOSPC)
    monkeypatch.setattr(atomic, "os", trouble)
    run_in(tmp_path / "run", listener=trouble, on_save_error="wait")
    assert len(trouble.said) == 3
    assert "No space left on device; make room on the disk" in trouble.said[0]
    assert traces(tmp_path / "run") == straight


def test_a_folder_that_vanishes_and_comes_back_empty_gets_everything(
    tmp_path, monkeypatch, straight
):
    monkeypatch.setattr(loop, "RETRY_SECONDS", 0)
    run = tmp_path / "run"

    class Vanishing(Listener):
        said: list[str] = []  # noqa: RUF012

        def epoch(self, number, loss):
            if number == 5:
                shutil.rmtree(run)

        def save_failed(self, why):
            self.said.append(why)
            run.mkdir(exist_ok=True)

    run_in(run, listener=Vanishing(), on_save_error="wait")
    assert "its folder is gone" in Vanishing.said[0]
    assert traces(run) == straight
    assert (run / "config.yaml").exists()
