"""The verbs with the query-conditioned model, with several graphs, and from given weights."""

import json
from pathlib import Path

import pytest
import torch
from tests.verbs import ingram, user_error, write_dataset

from ingram.inference.applying import apply_run
from ingram.inference.together import Added, Reranked
from ingram.io.reading import read_graph
from ingram.models import InGramQ, load_model
from ingram.training.checkpoints import RunDirectory

SMALL = [
    "--set", "model.width=4", "--set", "model.relation_layers=1", "--set", "model.entity_layers=2",
]  # fmt: skip
QUICK = [
    "--set", "training.steps=1", "--set", "training.queries=4",
    "--set", "training.validate_every=2", "--json",
]  # fmt: skip
VECTORS = [
    "--set", "model.relation_hidden=8", "--set", "model.entity_hidden=8",
    "--set", "model.relation_heads=2", "--set", "model.entity_heads=2",
    "--set", "model.entity_width=4", "--set", "evaluation.draws=2",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets called alike, and a place with a space in its name."""
    path = tmp_path_factory.mktemp("two graphs")
    for i, name in enumerate(("a", "b")):
        (path / name).mkdir()
        write_dataset(path / name / "v1", seed=10 * i)
    return path


@pytest.fixture(scope="module")
def run(data: Path) -> Path:
    path = data / "run"
    out = ingram("train", data / "a/v1", "-o", path, "--preset", "ingram-q", "--epochs", 4,
                 *SMALL, *QUICK)  # fmt: skip
    result = json.loads(out)
    assert (result["stopped"], result["epoch"]) == ("finished", 4)
    return path


@pytest.fixture(scope="module")
def vectors(data: Path) -> Path:
    """A run of the embedding model."""
    ingram("train", data / "a/v1", "-o", data / "vectors", "--epochs", 2, "--json", *VECTORS)
    return data / "vectors"


def epochs_of(path: Path) -> list[int]:
    return [record["epoch"] for record in RunDirectory(path).metrics()]


def test_train_leaves_a_run_of_the_query_conditioned_model(run: Path):
    assert {p.name for p in run.iterdir()} == {
        "config.yaml", "model.safetensors", "metrics.jsonl", "report.html", "checkpoints",
        "metrics.csv", "calibration.json", "outcome.json",
    }  # fmt: skip
    assert epochs_of(run) == [2, 4]
    assert isinstance(load_model(run), InGramQ)
    assert RunDirectory(run).config().model.width == 4


def test_evaluate_ranks_without_draws(run: Path, data: Path):
    out = json.loads(ingram("evaluate", run, data / "a/v1", "--json", "--by", "known"))
    assert (out["draws"], out["features"]) == (None, None)
    assert 0 < out["mrr"] <= 1
    assert {row["known"] for row in out["by"]["known"]} == {"known relations", "new relations"}
    valid = json.loads(ingram("evaluate", run, data / "a/v1", "--json", "--split", "valid"))
    assert valid["mrr"] == pytest.approx(max(r["mrr"] for r in RunDirectory(run).metrics()))
    assert "draws" not in ingram("evaluate", run, data / "a/v1")


@pytest.mark.parametrize("question", [("--head", "tail"), ("--tail", "head")])
def test_predict_answers_on_a_graph_never_seen(run: Path, data: Path, question):
    graph = data / "b/v1/msg.txt"
    given, asked = question
    arguments = ["predict", run, graph, given, "i3", "--relation", "new", "-k", 5]
    found = json.loads(ingram(*arguments, "--json"))
    scorer = apply_run(run, read_graph(graph))
    wanted = scorer.predict(**{given[2:]: "i3"}, relation="new", k=5).to_dicts()
    assert [row[asked] for row in found] == [row[asked] for row in wanted]
    assert [row["score"] for row in found] == pytest.approx([row["score"] for row in wanted])
    assert "rank" in ingram(*arguments)


def test_predict_ranks_the_best_of_one_run_anew_with_another(run, vectors, data):
    graph = read_graph(data / "b/v1/msg.txt")
    found = json.loads(
        ingram("predict", vectors, data / "b/v1/msg.txt", "--head", "i3", "--relation", "new",
               "-k", 30, "--rerank", 4, "--ranker", run, "--json")
    )  # fmt: skip
    both = Reranked(apply_run(vectors, graph), apply_run(run, graph), 4)
    wanted = both.predict(head="i3", relation="new", k=30)
    assert [row["tail"] for row in found] == wanted["tail"].to_list()
    alone = apply_run(vectors, graph).predict(head="i3", relation="new", k=30)
    assert {row["tail"] for row in found[:4]} == set(alone["tail"][:4])
    assert [row["tail"] for row in found[4:]] == alone["tail"][4:].to_list()


def test_predict_and_evaluate_add_the_scores_of_another_run(run, vectors, data):
    graph = read_graph(data / "b/v1/msg.txt")
    asked = ["--head", "i3", "--relation", "new", "-k", 30, "--json"]
    both = Added(apply_run(run, graph), apply_run(vectors, graph), 2.5)
    found = json.loads(
        ingram(
            "predict", run, data / "b/v1/msg.txt", *asked, "--with", vectors, "--with-weight", 2.5
        )
    )
    wanted = both.predict(head="i3", relation="new", k=30)
    assert [row["tail"] for row in found] == wanted["tail"].to_list()
    assert [row["score"] for row in found] == pytest.approx(wanted["score"].to_list(), rel=1e-4)
    alone = json.loads(ingram("predict", run, data / "b/v1/msg.txt", *asked))
    assert [row["score"] for row in found] != [row["score"] for row in alone]

    given = ["evaluate", run, data / "b/v1", "--json"]
    plain, little, much = (
        json.loads(ingram(*given, *more))["mr"]
        for more in ([], ["--with", vectors, "--with-weight", 1e-12], ["--with", vectors])
    )
    assert plain == little
    assert plain != much
    title = ingram("evaluate", run, data / "b/v1", "--with", vectors)
    assert f"with {vectors}"[:20] in " ".join(title.split())


def test_train_on_several_datasets_validates_on_all(data: Path, tmp_path: Path):
    ingram("train", data / "a/v1", data / "b/v1", "-o", tmp_path / "run", "--preset", "ingram-q",
           "--epochs", 2, *SMALL, *QUICK)  # fmt: skip
    [record] = RunDirectory(tmp_path / "run").metrics()
    assert list(record["by_graph"]) == ["v1", "v1 (2)"]
    assert record["mrr"] == pytest.approx(sum(record["by_graph"].values()) / 2)
    assert [g["name"] for g in load_model(tmp_path / "run").origin["graphs"]] == ["v1", "v1"]
    assert (tmp_path / "run" / "report.html").read_text().count("Relation graph of v1") == 2


def test_train_from_a_run_begins_with_its_weights_and_its_model(run, data, tmp_path):
    ingram("train", data / "b/v1", "-o", tmp_path / "run", "--from", run, "--epochs", 2, *QUICK)
    assert epochs_of(tmp_path / "run") == [0, 2]
    config = RunDirectory(tmp_path / "run").config()
    assert config.model == load_model(run).config
    origin = load_model(tmp_path / "run").origin
    assert origin["start"]["id"] == load_model(run).origin["id"]
    assert "<svg" in (tmp_path / "run" / "report.html").read_text()  # its first loss is none


@pytest.fixture(scope="module")
def pretrained(data: Path) -> tuple[Path, list[object]]:
    """A run on a file and a folder, which ran out of time after its first epoch."""
    words = ["pretrain", data / "a/v1/train.txt", data / "b/v1", "--validate", data / "a/v1",
             "--validate", data / "b/v1", "-o", data / "pretrained"]  # fmt: skip
    result = json.loads(ingram(*words, "--epochs", 4, "--minutes", 0, *SMALL, *QUICK))
    assert (result["stopped"], result["epoch"]) == ("out of time", 1)
    return data / "pretrained", words


def test_pretrain_learns_on_graphs_and_validates_on_datasets(pretrained, data, tmp_path):
    path, words = pretrained
    straight = [*words[:-1], tmp_path / "run", "--epochs", 4, *SMALL, *QUICK]
    ingram(*straight)
    ingram(*words, "--resume", "--json")
    one, other = path / "model.safetensors", tmp_path / "run" / "model.safetensors"
    assert one.read_bytes() == other.read_bytes()
    graphs = load_model(path).origin["graphs"]
    assert [g["name"] for g in graphs] == ["train.txt", "v1"]
    assert set(RunDirectory(path).metrics()[0]["by_graph"]) == {"v1", "v1 (2)"}
    assert 0 < json.loads(ingram("evaluate", path, data / "b/v1", "--json"))["mrr"] <= 1


def test_the_command_that_goes_on_can_be_pasted_into_a_shell(data: Path, tmp_path: Path):
    out = ingram("pretrain", data / "a/v1", "--validate", data / "b/v1", "-o", tmp_path / "run",
                 "--minutes", 0, *SMALL, *QUICK[:-1])  # fmt: skip
    [line] = [line for line in out.splitlines() if line.startswith("go on with: ")]
    assert line.removeprefix("go on with: ") == (
        f"ingram pretrain '{data}/a/v1' --validate '{data}/b/v1' -o {tmp_path}/run --resume"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["embed", "{run}", "{data}/a/v1", "-o", "{tmp}/x.parquet"], "has no vectors"),
        (["evaluate", "{run}", "{data}/a/v1", "--draws", "2"], "draws no random features"),
        (["evaluate", "{run}", "{data}/a/v1", "--seed", "2"], "draws no random features"),
        ("predict {run} {data}/a/v1 --head i0 --relation r --draws 2", "draws no random features"),
        ("predict {run} {data}/a/v1 --head i0 --relation r --seed 2", "draws no random features"),
        ("predict {run} {data}/a/v1 --head i0 --relation r --rerank 3", "belong together"),
        ("predict {run} {data}/a/v1 --head i0 --relation r --ranker {run}", "belong together"),
        ("predict {run} {data}/a/v1 --head i0 --relation r --with-weight 2", "one for each"),
        ("evaluate {run} {data}/a/v1 --with-weight 2", "one for each"),
        (
            "evaluate {run} {data}/a/v1 --with {run} --with {run} --with-weight 2",
            "got 1 for 2",
        ),
        ("evaluate {run} {data}/a/v1 --with {run} --with-weight 0", "want a weight above 0"),
        ("evaluate {run} {data}/a/v1 --with {run} --save", "leave out --with"),
        (
            "predict {run} {data}/a/v1 --head i0 --relation r --rerank 3 --ranker {run} "
            "--with {run}",
            "give one of them",
        ),
        ("train {data}/a/v1 -o {tmp}/x --from {run} --set model.bins=3", "weights decide"),
        ("train {data}/a/v1 -o {tmp}/x --from {run} --preset paper", "are of ingram-q, but preset"),
        ("train {data}/a/v1 -o {tmp}/x --from {tmp}", "model.safetensors: no such file"),
        ("train {data}/a/v1 -o {run} --resume --from {run}", "a resumed run keeps its preset"),
        ("train {data}/b/v1 -o {run} --resume --epochs 9", "begun with other graphs (v1)"),
        ("train {data}/a/v1 {data}/b/v1 -o {run} --resume --epochs 9", "other graphs (v1)"),
        ("pretrain {data}/a/v1 -o {data}/pretrained --resume", "other graphs (train.txt, v1)"),
        ("pretrain {data}/a/v1 -o {data}/pretrained --resume --seed 3", "keeps its seed"),
        ("pretrain {tmp}/nowhere -o {tmp}/x", "nowhere: no such file"),
        ("pretrain {data}/a/v1 -o {tmp}/x --set tasks.entities=[9,2]", "tasks.entities"),
    ],
    ids=str,
)
def test_a_users_error_is_one_line_and_status_2(
    arguments, said, run, data, tmp_path, capsys, pretrained
):
    words = arguments.split() if isinstance(arguments, str) else arguments
    filled = [word.format(run=run, data=data, tmp=tmp_path) for word in words]
    assert said in user_error(capsys, *filled)


def test_a_pretrained_run_is_not_resumed_with_another_validation(pretrained, capsys):
    path, words = pretrained
    without = [*words[:3], "-o", path, "--resume", "--epochs", 9]
    assert "begun with other validation (v1, v1)" in user_error(capsys, *without)


def test_diverged_weights_are_one_line_and_status_2(run, data, tmp_path, capsys):
    model = load_model(run)
    with torch.no_grad():
        model.query.fill_(torch.nan)
    model.save(tmp_path / "model.safetensors", {})
    words = ["predict", tmp_path, data / "a/v1", "--head", "i0", "--relation", "r"]
    assert "query holds NaN or infinity" in user_error(capsys, *words)


def test_help_names_the_new_verb():
    assert "pretrain" in ingram("--help")
    assert "Usage" in ingram("pretrain", "--help")


def test_the_shipped_weights_explain_where_no_run_is_named():
    words = ["world", "Nairobi", "capital_of", "Kenya", "--json"]
    found = [json.loads(ingram("explain", *run, *words)) for run in ([], ["zero-shot"])]
    assert found[0] == found[1]
    assert found[0]["paths"]


def test_the_demo_answers_trains_and_reports(tmp_path):
    shown = ingram("demo", "-o", tmp_path / "demo", "--epochs", 1)
    assert shown.count("(Kenya, borders, ?)") == 2  # before training and after
    assert (tmp_path / "demo" / "report.html").exists()
