"""The short form of ``make torture`` and ``make fuzz``."""

import pytest

from tests.torture import faults, kills, mutants

pytest.importorskip("pyoxigraph")


def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path):
    told = kills.in_a_process_of_its_own(tmp_path, 3)
    assert told["kills"] >= 3
    assert told["runs"] >= len(kills.KINDS)
    assert told["different"] == 0


def test_a_disk_that_fails_at_any_call_breaks_no_directory():
    told = faults.torture(27)
    assert told.trials == 27
    assert told.broken == []


def test_a_broken_input_is_read_or_refused_in_one_line(capfd):
    told = mutants.torture(1_400)
    assert told.bugs == []
    assert told.read.total() > 100  # both happen, or this tests nothing
    for name in set(mutants.TURNS) - {"metrics"}:  # of metrics, what cannot be read is left out
        assert told.refused[name], name
    assert capfd.readouterr() == ("", "")  # a library does not print
