"""The screen and the status of ``ingram data``."""

from __future__ import annotations

import hashlib
import json
import sys

import pytest

from ingram.cli import main
from ingram.cli.soundness import insist_on_sound
from ingram.datasets import open_dataset, registry
from ingram.errors import DatasetError

TABLES = {
    "train.txt": "a\tr\tb\nb\tr\tc\nc\ts\ta\na\ts\td\nd\tr\tb\n",
    "msg.txt": "x\tr\ty\ny\tq\tz\nz\tr\tx\n",
    "valid.txt": "z\tq\tx\n",
    "test.txt": "x\tq\ty\n",
}


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command line; status, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["ingram", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        text = capsys.readouterr()
        return status, text.out, text.err

    return call


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    for file, text in TABLES.items():
        (tmp_path / "mine" / file).write_text(text)
    return tmp_path / "mine"


@pytest.fixture
def leaky(folder):
    (folder / "msg.txt").write_text(TABLES["msg.txt"] + TABLES["test.txt"])
    return folder


def test_explain_says_which_file_is_which_on_one_screen(run, folder):
    (folder / "notes.csv").touch()
    status, out, _ = run("data", "explain", folder)
    assert status == 0
    assert "mine: the four-file form, inductive: two graphs" in out
    for file, title in (
        ("train.txt", "training graph"),
        ("msg.txt", "observed facts of the inference graph"),
        ("valid.txt", "validation triples"),
        ("test.txt", "test triples"),
    ):
        row = next(line for line in out.splitlines() if file in line)
        assert title in row
    assert "3:1:1" in out
    assert "0 entities are in both graphs; 1 of the 2 relations" in out
    assert "not used: notes.csv" in out
    assert len(out.splitlines()) <= 30


def test_explain_as_json_gives_sizes(run, folder):
    _, out, _ = run("data", "explain", folder, "--json")
    told = json.loads(out)
    assert (told["layout"], told["inductive"]) == ("four-file", True)
    sizes = {p["part"]: (p["triples"], p["entities"], p["relations"]) for p in told["parts"]}
    assert sizes == {"train": (5, 4, 2), "facts": (3, 3, 2), "valid": (1, 2, 1), "test": (1, 2, 1)}


def test_explain_names_the_folders_of_a_pair(run, tmp_path):
    for name in ("set", "set_ind"):
        (tmp_path / name).mkdir()
        for file in ("train.txt", "valid.txt", "test.txt"):
            (tmp_path / name / file).write_text(TABLES[file])
    _, out, _ = run("data", "explain", tmp_path / "set")
    assert "set_ind/test.txt" in out
    assert "GraIL's pair of folders (set and set_ind)" in out


def test_explain_of_one_file_tells_what_is_held_out(run, folder):
    status, out, _ = run("data", "explain", folder / "train.txt")
    assert status == 0
    assert "one file of triples, not inductive" in out
    assert "80%" in out


def test_explain_of_what_fits_no_layout_is_one_line(run, tmp_path):
    status, out, err = run("data", "explain", tmp_path)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.strip().splitlines()) == 1


def test_check_of_a_sound_folder_exits_well(run, folder):
    status, out, _ = run("data", "check", folder)
    assert status == 0
    assert "mine: 11 checks, 0 errors, 0 warnings" in out


def test_check_of_a_leaky_folder_exits_2_unless_allowed(run, leaky):
    status, out, _ = run("data", "check", leaky)
    assert status == 2
    assert "test-among-facts" in out
    assert "x  q  y" in out
    status, out, _ = run("data", "check", leaky, "--allow", "test-among-facts")
    assert status == 0
    assert "allowed" in out


def test_check_as_json_lists_the_findings(run, leaky):
    status, out, _ = run("data", "check", leaky, "--json")
    told = json.loads(out)
    assert status == 2
    assert (told["name"], told["sound"]) == ("mine", False)
    (finding,) = told["findings"]
    assert (finding["kind"], finding["count"]) == ("test-among-facts", 1)
    assert finding["examples"] == [["x", "q", "y"]]


def test_check_refuses_to_allow_what_it_does_not_know(run, folder):
    status, _, err = run("data", "check", folder, "--allow", "leeks")
    assert status == 2
    assert "no check 'leeks'" in err


def test_labels_are_printed_as_they_are(run, folder):
    for file, text in TABLES.items():
        (folder / file).write_text(text.replace("q", "[bold]q[/]\x1b[31m"))
    (folder / "msg.txt").write_text((folder / "msg.txt").read_text() + "x\t[bold]q[/]\x1b[31m\ty\n")
    _, out, _ = run("data", "check", folder)
    assert r"[bold]q[/]\x1b[31m" in out


def test_train_refuses_a_leaky_dataset_before_it_writes(run, leaky, tmp_path):
    status, _, err = run("train", leaky, "-o", tmp_path / "run")
    assert status == 2
    assert "test-among-facts" in err
    assert "--allow-leaks" in err
    assert not (tmp_path / "run").exists()


def test_allowed_leaks_and_oddities_are_one_line_of_warning(leaky, capsys):
    (leaky / "valid.txt").write_text("z\tq\tstranger\n")
    insist_on_sound(open_dataset(leaky), allow_leaks=True)
    err = capsys.readouterr().err
    assert "test-among-facts 1, unknown-entities 1" in err
    assert len(err.splitlines()) == 1
    with pytest.raises(DatasetError, match="--allow-leaks goes on all the same"):
        insist_on_sound(open_dataset(leaky), allow_leaks=False)


def test_a_sound_dataset_needs_no_words(folder, capsys):
    insist_on_sound(open_dataset(folder), allow_leaks=False)
    assert capsys.readouterr().err == ""


def test_list_shows_fourteen_benchmarks(run, tmp_path, monkeypatch):
    monkeypatch.setenv("INGRAM_HOME", str(tmp_path))
    _, out, err = run("data", "list")
    assert all(name in out for name in registry.NAMES)
    assert "CC BY-NC-SA 4.0" in err
    told = json.loads(run("data", "list", "--json")[1])
    assert len(told) == 14
    assert not any(one["cached"] for one in told)


def test_info_shows_licence_sizes_files_and_cache(run, tmp_path, monkeypatch):
    monkeypatch.setenv("INGRAM_HOME", str(tmp_path))
    status, out, _ = run("data", "info", "NL-100")
    assert status == 0
    for text in (
        "CC BY-NC-SA 4.0",
        "7,832 triples",
        "msg.txt",
        "15a8c2279787e7f3",
        "not there yet",
    ):
        assert text in out
    told = json.loads(run("data", "info", "NL-100", "--json")[1])
    assert told["train"] == {"entities": 1258, "relations": 55, "triples": 7832}


def test_info_of_an_unknown_name_offers_the_nearest(run):
    status, _, err = run("data", "info", "NL-10")
    assert status == 2
    assert "did you mean NL-100" in err


@pytest.fixture
def mirror(folder, tmp_path, monkeypatch):
    """A folder that serves NL-100, a tiny one."""
    sums = dict(registry.checksums())
    for file, text in TABLES.items():
        sums[f"NL-100/{file}"] = hashlib.sha256(text.encode()).hexdigest()
    monkeypatch.setattr(registry, "checksums", lambda: sums)
    monkeypatch.setenv("INGRAM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("INGRAM_MIRROR", raising=False)
    monkeypatch.setenv("INGRAM_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    folder.rename(tmp_path / "NL")
    (tmp_path / "mirror").mkdir()
    return (tmp_path / "NL").rename(tmp_path / "mirror" / "NL-100").parent


def test_download_shows_the_licence_and_the_name_then_works_everywhere(run, mirror):
    status, out, err = run("data", "download", "NL-100", "--mirror", mirror)
    assert status == 0
    assert "CC BY-NC-SA 4.0" in err
    assert "NL-100: complete and genuine" in out
    assert "NL-100: the four-file form" in run("data", "explain", "NL-100")[1]
    assert run("data", "check", "NL-100")[0] == 0
    assert json.loads(run("data", "info", "NL-100", "--json")[1])["cached"]


def test_download_offline_of_what_is_not_there_is_one_line(run, mirror):
    status, out, err = run("data", "download", "NL-100", "--offline", "--json")
    assert (status, out) == (2, "")
    assert "the network is not to be used" in err.splitlines()[-1]


def test_a_name_that_is_not_cached_says_what_to_run(run, mirror):
    status, _, err = run("data", "check", "NL-100")
    assert status == 2
    assert "ingram data download NL-100" in err
