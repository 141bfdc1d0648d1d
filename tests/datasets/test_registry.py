"""The fourteen benchmarks by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ingram.datasets import open_dataset, registry
from ingram.errors import DatasetError

FOURTEEN = (
    *("NL-0", "NL-25", "NL-50", "NL-75", "NL-100"),
    *("WK-25", "WK-50", "WK-75", "WK-100"),
    *("FB-25", "FB-50", "FB-75", "FB-100"),
    "NELL-995-v1",
)


def test_the_fourteen_are_known():
    assert sorted(registry.NAMES) == sorted(FOURTEEN)


@pytest.mark.parametrize("name", FOURTEEN)
def test_every_benchmark_has_four_files_with_checksums(name):
    sums = registry.benchmark(name).sums
    assert list(sums) == ["train.txt", "msg.txt", "valid.txt", "test.txt"]
    assert all(
        len(total) == 64 and set(total) <= set("0123456789abcdef") for total in sums.values()
    )


def test_no_checksum_is_left_over():
    assert len(registry.checksums()) == 4 * len(FOURTEEN)


def test_sets_that_share_a_training_graph_share_its_checksum_and_size():
    for one, other in (("NL-25", "NL-50"), ("FB-75", "FB-100")):
        first, second = registry.benchmark(one), registry.benchmark(other)
        assert first.sums["train.txt"] == second.sums["train.txt"]
        assert first.train == second.train


def test_sizes_are_those_of_table_5():
    one = registry.benchmark("NL-100")
    assert (one.source, one.new, one.published) == ("NELL-995", 100, True)
    assert one.train == registry.Size(1258, 55, 7832)
    assert one.inference == registry.Size(1709, 53, 3964)


def test_the_base_address_is_pinned_to_a_commit():
    assert registry.BASE_ADDRESS.startswith("https://raw.githubusercontent.com/bdi-lab/InGram/")
    commit = registry.BASE_ADDRESS.split("/")[-2]
    assert len(commit) == 40


@pytest.mark.parametrize(("asked", "offered"), [("nl-100", "NL-100"), ("FB100", "FB-100")])
def test_a_name_nearly_right_is_told(asked, offered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=f"did you mean .*{offered}"):
        registry.benchmark(asked)
    with pytest.raises(DatasetError, match=f"did you mean .*{offered}"):
        open_dataset(asked)


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DatasetError, match=r"gone/train.tsv: no such file or folder"):
        open_dataset(tmp_path / "gone" / "train.tsv")


def test_the_cache_is_ingram_home_or_the_platforms(monkeypatch, tmp_path):
    monkeypatch.setenv("INGRAM_HOME", str(tmp_path))
    assert registry.benchmark("NL-0").folder == tmp_path / "datasets" / "NL-0"
    assert not registry.benchmark("NL-0").cached
    monkeypatch.delenv("INGRAM_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert registry.cache_folder().name == "ingram"
    assert registry.cache_folder().is_absolute()


def test_importing_loads_no_network_library():
    code = "import sys, ingram.datasets; print('requests' in sys.modules or 'pooch' in sys.modules)"
    source = Path(registry.__file__).parents[2]
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(source), "PATH": ""},
    )
    assert answer.stdout.strip() == "False"
