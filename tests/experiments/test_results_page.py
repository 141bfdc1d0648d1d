"""The page of results says what its JSON says."""

import json
from pathlib import Path

import pytest

from ingram.errors import RunError
from ingram.experiments.presenting import sections
from ingram.experiments.results import FORMAT, portable
from ingram.experiments.results_page import fill_page, filled

DOCS = Path(__file__).parents[2] / "docs"
MARKED = "before\n<!-- figures: f.json{} -->\nold\n<!-- end of figures -->\nafter\n"


def test_the_page_of_the_repository_equals_what_the_json_says():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    assert filled(text, DOCS) == text


def test_every_json_of_results_stands_in_the_page():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    for file in (DOCS / "results").glob("*.json"):
        assert f"<!-- figures: results/{file.name}" in text


def entry(mrr: float) -> dict:
    ours = {"dataset": "NL-100", "method": "paper+bins-1", "protocol": "chosen draw",
            "figures": {"mrr": mrr}, "seeds": [0],
            "budget": "short: 2 of 10,000 epochs"}  # fmt: skip
    made = dict.fromkeys(("ingram", "python", "torch", "system", "threads"), "1")
    return {"command": "ingram reproduce main", "environment": made, "rows": [ours],
            "comparisons": [], "notes": []}  # fmt: skip


def test_tables_are_written_anew_and_words_are_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(MARKED.format(""))
    (tmp_path / "f.json").write_text(
        json.dumps({"format": FORMAT, "experiments": {"main": entry(0.25)}})
    )
    assert fill_page(page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end of figures -->\nafter\n")
    assert "| paper + bins-1, chosen draw | 0.250 | 0 | short: 2 of 10,000 epochs |" in text
    assert "old" not in text
    assert not fill_page(page)


def test_several_datasets_stand_side_by_side_with_their_mean():
    rows = [
        {"dataset": dataset, "method": method, "protocol": protocol,
         "figures": {"mrr": mrr, "hits@10": 0.5}}
        for dataset, method, protocol, mrr in [
            ("NL-100", "InGram", "published", 0.309),
            ("NL-100", "GraIL", "published", 0.135),
            ("NL-100", "ingram-q", "", 0.5),
            ("NL-50", "ingram-q", "", 0.25),
            ("NL-50", "InGram", "published", 0.281),
            ("NL-50", "rules", "", 0.125),
        ]
    ]  # fmt: skip
    overview, *rest = sections("main", entry(0.25) | {"rows": rows})
    assert overview.table.rows() == [
        ("InGram, published", ".309/.500", ".281/.500", ".295/.500"),
        ("ingram-q", ".500/.500", ".250/.500", ".375/.500"),
        ("rules", "", ".125/.500", ""),
    ]
    assert [section.title for section in rest] == ["NL-100", "NL-50"]
    alone = sections("main", entry(0.25) | {"rows": rows[:3]})
    assert [section.title for section in alone] == ["NL-100"]


def test_one_experiment_of_several_is_chosen_by_name(tmp_path):
    both = {"main": entry(0.25), "ablation": entry(0.5)}
    (tmp_path / "f.json").write_text(json.dumps({"format": FORMAT, "experiments": both}))
    text = filled(MARKED.format(" ablation"), tmp_path)
    assert "0.500" in text
    assert "0.250" not in text
    with pytest.raises(RunError, match="want results of bins, found main, ablation"):
        filled(MARKED.format(" bins"), tmp_path)


def test_one_table_of_an_experiment_is_chosen_by_its_title(tmp_path):
    (tmp_path / "f.json").write_text(
        json.dumps({"format": FORMAT, "experiments": {"main": entry(0.25)}})
    )
    text = filled(MARKED.format(" main:nl-100"), tmp_path)
    assert "| paper + bins-1, chosen draw | 0.250 |" in text
    assert "ingram reproduce" not in text
    with pytest.raises(RunError, match="want table nl-0 of main, found nl-100"):
        filled(MARKED.format(" main:nl-0"), tmp_path)


def test_a_plain_table_writes_figures_as_people_do(tmp_path):
    rows = [["a|b", [0.309, 0.506], 92.6, 1586, None]]
    table = {"format": "ingram-table-1", "columns": ["", "x", "MR", "n", "y"], "rows": rows}
    (tmp_path / "f.json").write_text(json.dumps(table))
    assert "| a\\|b | .309/.506 | 92.6 | 1,586 |  |" in filled(MARKED.format(""), tmp_path)


def test_a_page_without_marks_or_figures_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("nothing")
    with pytest.raises(RunError, match="found none"):
        fill_page(tmp_path / "page.md")
    with pytest.raises(RunError, match="no such file"):
        filled(MARKED.format(""), tmp_path)


def test_what_is_kept_names_no_place_on_this_machine():
    command = "ingram reproduce main --data /home/me/data -o /tmp/out --seeds 0,1"
    kept = portable({"command": command})
    assert kept["command"] == "ingram reproduce main --data data -o out --seeds 0,1"
