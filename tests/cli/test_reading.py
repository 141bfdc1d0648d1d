"""How a graph is read, said on the command line: the same options for every verb."""

from __future__ import annotations

import gzip
import json
import sys

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from ingram.cli import app, main
from ingram.cli.reading import reads_a_graph, spelled
from ingram.io import ReadOptions, read_dataset

OPTIONS = (
    *("--format", "--columns", "--header", "--no-header", "--weight", "--no-weight"),
    *("--literals", "--base", "--limit"),
)
VERBS = {
    "train": "train {graph} -o {out}",
    "pretrain": "pretrain {graph} -o {out}",
    "evaluate": "evaluate {run} {graph}",
    "embed": "embed {run} {graph} -o {out}.parquet",
    "predict": "predict {run} {graph} --head e1 --relation r1",
    "data explain": "data explain {graph}",
    "data check": "data check {graph}",
    "data info": "data info {graph}",
    "data split": "data split {graph} -o {out}",
    "data generate": "data generate {graph} -o {out} --preset NL-25",
}
SMALL = (
    *("--epochs", "2", "--set", "training.validate_every=2"),
    *("--set", "model.relation_hidden=16", "--set", "model.entity_hidden=16"),
    *("--set", "model.relation_heads=2", "--set", "model.entity_heads=2"),
)


def rows() -> list[tuple[str, str, str, str]]:
    """Triples over 20 entities and 3 relations, each with a weight."""
    ids = np.random.default_rng(0).integers(0, (20, 3, 20), (200, 3))
    distinct = dict.fromkeys((f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids.tolist())
    return [(*triple, str(1 + i % 3)) for i, triple in enumerate(distinct)]


ROWS = rows()
SIZES = {"entities": 20, "relations": 3, "triples": len(ROWS)}
WEIGHT = float(sum(int(row[3]) for row in ROWS))
BARE = "".join(f"{i},{t},{w},{r},{h}\n" for i, (h, r, t, w) in enumerate(ROWS))
"""CSV without a header: a number, tail, weight, relation, head."""
NAMED = "id,to,times,kind,from\n" + BARE


def ingram(*words: object, stdin: str | None = None) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def info(*words: object, stdin: str | None = None) -> dict[str, object]:
    told = json.loads(ingram("data", "info", *words, "--json", stdin=stdin))
    return {name: told[name] for name in (*SIZES, "weight")}


@pytest.fixture
def refused(capsys, monkeypatch):
    """The one line on standard error of a command that exits with status 2."""

    def call(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["ingram", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        return err

    return call


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was trained on a CSV file, columns by position."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "bare.csv").write_text(BARE)
    ingram("train", folder / "bare.csv", "--columns", "4,3,1", "-o", folder / "run", *SMALL)
    return folder / "run"


def test_csv_without_a_header_by_position(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text(BARE)
    assert info(path, "--columns", "4,3,1") == {**SIZES, "weight": None}
    assert info(path, "--columns", "4, 3, 1", "--no-header")["triples"] == len(ROWS)
    assert info(path, "--columns", "4,3,1", "--weight", 2) == {**SIZES, "weight": WEIGHT}
    assert info(path, "--columns", "4,3,1", "--header")["triples"] == len(ROWS) - 1


def test_csv_by_names(tmp_path):
    path = tmp_path / "named.csv"
    path.write_text(NAMED)
    assert info(path, "--columns", "from,kind,to") == {**SIZES, "weight": None}
    assert info(path, "--columns", "from,3,to", "--weight", "times") == {**SIZES, "weight": WEIGHT}


def test_a_column_of_weights_can_be_left_out(tmp_path):
    path = tmp_path / "weighted.tsv"
    lines = ["\t".join(row) for row in ROWS]
    path.write_text("\n".join(["head\trelation\ttail\tweight", *lines]))
    assert info(path) == {**SIZES, "weight": WEIGHT}
    assert info(path, "--no-weight") == {**SIZES, "weight": None}


def test_standard_input_as_csv(run, tmp_path):
    assert info("-", "--format", "csv", "--columns", "4,3,1", stdin=BARE) == {
        **SIZES,
        "weight": None,
    }
    told = ingram("data", "explain", "-", "--format", "csv", "--columns", "4,3,1", stdin=BARE)
    assert "standard input: one file of triples" in told


def test_parquet_with_other_column_names(tmp_path):
    path = tmp_path / "table.parquet"
    heads, relations, tails, weights = zip(*ROWS, strict=True)
    table = {"o": tails, "times": map(int, weights), "p": relations, "s": heads, "id": heads}
    pl.DataFrame({name: list(column) for name, column in table.items()}).write_parquet(path)
    assert info(path, "--columns", "s,p,o", "--weight", "times") == {**SIZES, "weight": WEIGHT}


def test_n_triples_in_a_file_without_a_suffix(tmp_path, refused):
    path = tmp_path / "dump"
    lines = [f"<http://x/{h}> <http://x/{r}> <http://x/{t}> ." for h, r, t, _ in ROWS]
    path.write_text("\n".join([*lines, '<http://x/e1> <http://x/name> "one" .']))
    assert info(path, "--format", "nt") == {**SIZES, "weight": None}
    assert info(path, "--format", "nt", "--literals")["relations"] == 4
    assert "want 3 tab-separated fields" in refused("data", "info", path)


def test_relative_iris_want_a_base(tmp_path, refused):
    path = tmp_path / "g.ttl"
    path.write_text("<a> <r> <b>, <c> .")
    assert info(path, "--base", "http://x/")["entities"] == 3
    assert "say with the option base" in refused("data", "info", path)


def test_a_file_that_unpacks_to_more_wants_a_limit(tmp_path, refused):
    path = tmp_path / "g.csv.gz"
    path.write_bytes(gzip.compress(BARE.encode()))
    assert info(path, "--columns", "4,3,1", "--limit", len(BARE))["triples"] == len(ROWS)
    said = refused("data", "info", path, "--columns", "4,3,1", "--limit", len(BARE) - 1)
    assert "if it may, say how many with the option limit" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "xlsx"], "no format 'xlsx'; known are tsv, csv"),
        (["--columns", "0,1"], "columns: want three names or positions"),
        (["--columns", "a,b,c"], "no column 'a'"),
        (["--columns", "0,1,9"], "no column 9; there are 5, and the first is column 0"),
        (["--columns", "0,1,2", "--weight", "9"], "no column 9"),
        (["--weight", "2", "--no-weight"], "want --weight or --no-weight, got both"),
        (["--limit", "lots"], "--limit: want a whole number of bytes, got 'lots'"),
        (["--limit", "0"], "limit: want a number of bytes above 0"),
        (["--literals"], "the option literals is for nt"),
        (["--base", "http://x/"], "the option base is for ttl"),
        (["--format", "nt", "--header"], "the option header is for tsv, csv, got nt"),
        ([], "want 3 comma-separated fields, got 5"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_bad_value_is_one_line_and_leaves_nothing(verb, words, said, run, tmp_path, refused):
    (tmp_path / "bare.csv").write_text(BARE)
    line = VERBS[verb].format(run=run, graph=tmp_path / "bare.csv", out=tmp_path / "out")
    assert said in refused(*line.split(), *words)
    assert [p.name for p in tmp_path.iterdir()] == ["bare.csv"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_broken_file_is_one_line_and_leaves_nothing(verb, run, tmp_path, refused):
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(gzip.compress("\n".join("\t".join(r[:3]) for r in ROWS).encode())[:-4])
    line = VERBS[verb].format(run=run, graph=path, out=tmp_path / "out")
    assert "cut.tsv.gz: want a gzip file, got a broken one" in refused(*line.split())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_takes_a_graph_lists_the_options_together(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = ingram(*verb.split(), "--help")
    panel = text[text.index("Reading the graph") :]
    assert all(option in panel for option in OPTIONS)


def test_verbs_use_what_they_are_told(run, tmp_path):
    columns = ("--format", "csv", "--columns", "4,3,1")
    ask = ("predict", run, "-", *columns, "--head", "e1", "--relation", "r1", "--json")
    answers = json.loads(ingram(*ask, stdin=BARE))
    assert {answer["tail"] for answer in answers} <= {f"e{i}" for i in range(20)}
    ingram("embed", run, "-", *columns, "-o", tmp_path / "e.parquet", stdin=BARE)
    assert pl.read_parquet(tmp_path / "e.parquet").filter(kind="entity").height == 20
    out = json.loads(ingram("evaluate", run, "-", *columns, "--json", stdin=BARE))
    assert out["queries"] > 0
    assert "checks" in ingram("data", "check", "-", *columns, stdin=BARE)
    ingram("data", "split", "-", *columns, "--weight", 2, "-o", tmp_path / "own", stdin=BARE)
    kept = read_dataset(tmp_path / "own").train
    weights = {row[:3]: float(row[3]) for row in ROWS}
    assert all(weights[row[:3]] == row[3] for row in kept.labelled().iter_rows())
    assert json.loads((tmp_path / "own" / "made.json").read_text())["graph"] == "standard input"


def test_options_hold_for_each_file_of_a_folder(tmp_path):
    for name, start in (("train", 0), ("valid", 1), ("test", 2)):
        lines = BARE.splitlines()[start::3]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    told = json.loads(ingram("data", "explain", tmp_path, "--format", "csv", "--columns", "4,3,1",
                             "--json"))  # fmt: skip
    assert sum(part["triples"] for part in told["parts"]) == len(ROWS)


def test_a_run_that_was_stopped_says_how_to_go_on(tmp_path):
    path = tmp_path / "my graph.csv"
    path.write_text(NAMED)
    said = ingram("train", path, "--columns", "from,kind,to", "--no-weight", "-o", tmp_path / "run",
                  "--minutes", 0, *SMALL)  # fmt: skip
    words = f"'{path}' --columns from,kind,to --no-weight -o {tmp_path / 'run'} --resume"
    assert f"go on with: ingram train {words}" in said
    options = ["--columns", "from,kind,to", "--no-weight"]
    ingram("train", path, *options, "-o", tmp_path / "run", "--resume")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--format", "ttl", "--literals", "--base", "http://x/"],
        ["--columns", "a b,2,c", "--header", "--weight", "times"],
        ["--columns", "0,1,2", "--no-header", "--no-weight", "--limit", "100"],
    ],
)
def test_options_are_spelled_as_they_are_understood(words):
    seen: list[ReadOptions] = []

    @reads_a_graph
    def verb(graph: str, reading: ReadOptions) -> None:
        seen.append(reading)

    one = typer.Typer()
    one.command()(verb)
    assert CliRunner().invoke(one, ["g", *words]).exit_code == 0
    assert spelled(seen[0]) == words
