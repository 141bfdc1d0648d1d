"""The signals by which a scheduler ends a process."""

import signal

import pytest

from ingram.training import Listener
from tests.training.runs import run_in, traces


class Signal(Listener):
    def __init__(self, number, at=6):
        self.number, self.at = number, at

    def epoch(self, number, loss):
        if number == self.at:
            signal.raise_signal(self.number)
            signal.raise_signal(self.number)  # some schedulers send it twice


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_terminated_saves_and_resumes_exactly(number, tmp_path):
    run_in(tmp_path / "straight")
    before = signal.signal(number, signal.SIG_DFL)  # nohup ignores SIGHUP, and so would the run
    try:
        outcome = run_in(tmp_path / "run", listener=Signal(number))
    finally:
        signal.signal(number, before)
    assert (outcome.stopped, outcome.epoch) == ("terminated", 6)
    run_in(tmp_path / "run", resume=True)
    assert traces(tmp_path / "run") == traces(tmp_path / "straight")


def test_a_signal_that_was_ignored_stays_so(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run_in(tmp_path / "run", listener=Signal(signal.SIGHUP)).stopped == "finished"
    finally:
        signal.signal(signal.SIGHUP, before)
