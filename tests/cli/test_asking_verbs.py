"""predict, complete, score and calibrate as a user meets them."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.verbs import ingram, user_error, write_dataset

from ingram.errors import IngramError
from ingram.inference.applying import apply_run
from ingram.inference.completing import complete
from ingram.io import read_graph, read_triples
from ingram.labels import FIELDS

SMALL = ["--set", "model.relation_hidden=16", "--set", "model.entity_hidden=16"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "tiny"
    write_dataset(path)
    return path


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    ingram("train", data, "-o", path, "--epochs", 5, "--json", *SMALL)
    return path


@pytest.fixture(scope="module")
def graph(data: Path) -> Path:
    return data / "msg.txt"


@pytest.fixture(scope="module")
def scorer(run: Path, graph: Path):
    return apply_run(run, read_graph(graph))


def rows(*arguments: object) -> list[dict]:
    return json.loads(ingram(*arguments, "--json"))


def test_predict_asks_for_relations(run, graph, scorer):
    found = rows("predict", run, graph, "--head", "i0", "--tail", "i1")
    assert found == scorer.predict(head="i0", tail="i1").to_dicts()
    assert {row["relation"] for row in found} == {"r", "new"}
    assert "(i0, ?, i1)" in ingram("predict", run, graph, "--head", "i0", "--tail", "i1")


def test_predict_hides_marks_or_keeps_what_is_known(run, graph):
    question = ["predict", run, graph, "--tail", "i1", "--relation", "r", "-k", 50]
    marked = rows(*question)
    assert marked == rows(*question, "--known", "mark")
    assert any(row["known"] for row in marked)
    hidden = rows(*question, "--known", "hide")
    assert [r["head"] for r in hidden] == [r["head"] for r in marked if not r["known"]]
    assert "known" not in hidden[0]
    kept = rows(*question, "--known", "keep")
    assert [r["head"] for r in kept] == [r["head"] for r in marked]
    assert "known" not in kept[0]
    assert "known" in ingram(*question)


def test_predict_chooses_among_candidates(run, graph, tmp_path):
    question = ["predict", run, graph, "--head", "i0", "--relation", "new", "-k", 50]
    every = [row["tail"] for row in rows(*question)]
    (tmp_path / "list.txt").write_text("i3\ni12\n\ni7\n")
    found = [row["tail"] for row in rows(*question, "--among", tmp_path / "list.txt")]
    assert found == [tail for tail in every if tail in ("i3", "i12", "i7")]
    found = [row["tail"] for row in rows(*question, "--match", "i1?", "--regex", "[0-4]$")]
    assert found == [t for t in every if len(t) == 3 and t[1] == "1" and t[2] < "5"]
    facts = read_triples(graph)
    tails = set(facts.filter(relation="new")["tail"])
    found = [row["tail"] for row in rows(*question, "--typed")]
    assert found == [tail for tail in every if tail in tails]


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "jsonl"])
def test_a_file_of_questions_becomes_a_file_of_answers(run, graph, scorer, tmp_path, suffix):
    asked = pl.DataFrame(
        [("i0", "r", ""), ("", "new", "i3"), ("i0", "?", "i1")] * 20, FIELDS, orient="row"
    )
    asked.write_csv(tmp_path / "q.tsv", separator="\t", include_header=False, quote_style="never")
    out = tmp_path / f"a.{suffix}"
    said = rows("predict", run, graph, "--queries", tmp_path / "q.tsv", "-o", out, "-k", 4)
    wanted = scorer.predict(asked, k=4)
    assert said == {"output": str(out), "queries": 60, "answers": len(wanted)}
    read = {
        "tsv": lambda path: pl.read_csv(path, separator="\t", schema=wanted.schema),
        "parquet": pl.read_parquet,
        "jsonl": pl.read_ndjson,
    }[suffix]
    assert read(out).rows() == wanted.rows()
    assert wanted["query"].max() == 60


def test_one_question_can_be_written_too(run, graph, scorer, tmp_path):
    said = ingram(
        "predict", run, graph, "--head", "i0", "--relation", "r", "-o", tmp_path / "a.tsv"
    )
    assert "10 answers" in said
    table = pl.read_csv(tmp_path / "a.tsv", separator="\t")
    assert table["tail"].to_list() == scorer.predict(head="i0", relation="r")["tail"].to_list()


@pytest.mark.parametrize("suffix", ["tsv", "nt", "parquet", "jsonl", "tsv.gz"])
def test_a_completion_can_be_read_as_a_graph(run, graph, scorer, tmp_path, suffix):
    pytest.importorskip("pyoxigraph")
    out = tmp_path / f"more.{suffix}"
    ingram("complete", run, graph, "-n", 25, "-o", out)
    wanted = complete(scorer, 25)
    assert read_triples(out).select(FIELDS).rows() == wanted.select(FIELDS).rows()
    assert len(wanted) == 25
    facts = set(read_triples(graph).rows())
    assert not facts & set(wanted.select(FIELDS).rows())


def test_complete_takes_limits_and_relations(run, graph, scorer):
    found = rows("complete", run, graph, "-n", 30, "--per-relation", 3)
    assert [row["relation"] for row in found].count("r") == 3
    assert found == complete(scorer, 30, per_relation=3).to_dicts()
    found = rows("complete", run, graph, "-n", 30, "--relation", "new", "--all-heads", "--typed")
    assert found == complete(scorer, 30, relations=["new"], all_heads=True, typed=True).to_dicts()
    assert "missing triples" in ingram("complete", run, graph, "-n", 60)


def test_score_says_what_is_true(run, data, graph, scorer, tmp_path):
    found = rows("score", run, graph, data / "valid.txt")
    assert set(found[0]) == {*FIELDS, "score", "known", "probability", "true"}
    assert not any(row["known"] for row in found)
    scores = scorer.score(scorer.graph.encode(read_triples(data / "valid.txt"))).tolist()
    assert [row["score"] for row in found] == pytest.approx(scores)
    assert all(r["true"] == (r["score"] >= scorer.calibration.threshold) for r in found)
    ingram("score", run, graph, graph, "-o", tmp_path / "s.parquet")
    assert pl.read_parquet(tmp_path / "s.parquet")["known"].all()
    assert "probability" in ingram("score", run, graph, data / "test.txt")


def test_training_ends_with_a_calibration_that_the_report_shows(run, data):
    assert (run / "calibration.json").is_file()
    page = (run / "report.html").read_text()
    assert "What a score means" in page
    before = page.count("<svg")
    weights = (run / "model.safetensors").read_bytes()
    said = rows("calibrate", run, data, "--method", "platt")
    assert said["method"] == "platt"
    assert 0 <= said["reliability"]["platt"]["ece"] <= 1
    page = (run / "report.html").read_text()
    assert page.count("<svg") == before
    assert page.count("What a score means") == 1
    assert "platt (used)" in ingram("calibrate", run, data, "--method", "platt")
    assert (run / "model.safetensors").read_bytes() == weights
    (run / "report.html").unlink()
    ingram("calibrate", run, data)
    assert "What a score means" in (run / "report.html").read_text()


def test_shipped_weights_answer_where_no_run_is_named(data, graph):
    for words in (["complete", graph, "-n", 5], ["score", graph, data / "test.txt"]):
        verb, *rest = words
        assert rows(*words) == rows(verb, "zero-shot", *rest)


def test_shipped_weights_are_calibrated_in_a_copy(data, graph, tmp_path, capsys):
    copy = tmp_path / "copy"
    rows("calibrate", data, "-o", copy)
    plain, calibrated = (rows("predict", *run, graph, *HEAD) for run in ([], [copy]))
    assert [row.pop("probability") for row in calibrated] == pytest.approx(
        apply_run(copy, read_graph(graph)).calibration.probability([r["score"] for r in plain])
    )
    assert calibrated == plain
    assert "What a score means" in (copy / "report.html").read_text()
    assert "copy: want a new folder" in user_error(capsys, "calibrate", data, "-o", copy)


def test_a_run_that_cannot_be_calibrated_is_a_run_all_the_same(data, tmp_path, monkeypatch):
    def refuse(*_):
        raise IngramError("nothing to go by")

    monkeypatch.setattr("ingram.inference.calibrating.calibrate", refuse)
    ingram("train", data, "-o", tmp_path / "run", "--epochs", 2, *SMALL)
    assert not (tmp_path / "run" / "calibration.json").exists()
    assert (tmp_path / "run" / "report.html").exists()
    found = rows("score", tmp_path / "run", data / "msg.txt", data / "test.txt")
    assert set(found[0]) == {*FIELDS, "score", "known"}


HEAD = ["--head", "i0", "--relation", "r"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predict", "{run}", "{graph}"], "give two of --head, --relation and --tail"),
        (["predict", "{run}", "{graph}", *HEAD, "--tail", "i1"], "give two of --head"),
        (["predict", "{run}", "{graph}", *HEAD, "--queries", "q"], "give two of --head"),
        (["predict", "{run}", "{graph}", "--queries", "q"], "--queries wants -o FILE"),
        (["predict", "{run}", "{graph}", *HEAD, "--known", "drop"], "want one of hide, mark, keep"),
        (["predict", "{run}", "{graph}", *HEAD, "--regex", "("], "want a pattern, got '('"),
        (["predict", "{run}", "{graph}", *HEAD, "--among", "{tmp}/no"], "no: no such file"),
        (["predict", "{run}", "{graph}", *HEAD, "--among", "{graph}"], "no entity 'i0\\tr"),
        (["predict", "{run}", "{graph}", *HEAD, "-o", "{tmp}/a.nt"], "want tsv, parquet, jsonl"),
        (["predict", "{run}", "{graph}", *HEAD, "-o", "{tmp}/no/a.tsv"], "cannot be written"),
        (
            ["predict", "{run}", "{graph}", "--head", "i0", "--tail", "i1", "--typed"],
            "leave out typed",
        ),
        (
            ["predict", "{run}", "{graph}", "--queries", "{graph}", "-o", "{tmp}/a.tsv"],
            "msg.txt: query 1: want one of head, relation and tail to be asked for",
        ),
        (["complete", "{run}", "{graph}", "-o", "{tmp}/a.ttl"], "want a file in a folder"),
        (["complete", "{run}", "{graph}", "-o", "{tmp}/no/a.tsv"], "want a file in a folder"),
        (["complete", "{run}", "{graph}", "--relation", "neww"], "did you mean 'new'?"),
        (["score", "{run}", "{graph}", "{data}/train.txt"], "train.txt: no entity 't"),
        (["score", "{run}", "{graph}", "{tmp}/none.tsv"], "no such file"),
        (["calibrate", "{tmp}", "{data}"], "want a run directory"),
        (["calibrate", "zero-shot", "world"], "give -o FOLDER for a copy"),
        (["calibrate", "world"], "give -o FOLDER for a copy"),
        (["score", "{graph}"], "want [RUN] GRAPH TRIPLES, got 1 words"),
    ],
)
def test_a_users_error_is_one_line_and_status_2(
    arguments, said, run, data, graph, tmp_path, capsys
):
    filled = [a.format(run=run, data=data, graph=graph, tmp=tmp_path) for a in arguments]
    assert said in user_error(capsys, *filled)


def test_a_broken_calibration_is_one_line(run, graph, capsys):
    path = run / "calibration.json"
    whole = path.read_text()
    try:
        path.write_text(whole[:-9])
        assert "calibration.json: want a calibration" in user_error(
            capsys, "predict", run, graph, *HEAD
        )
    finally:
        path.write_text(whole)
