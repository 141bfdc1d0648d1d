"""The weights that come with the package."""

import hashlib

import pytest

import ingram
from ingram.errors import RunError
from ingram.evaluation.metrics import overall
from ingram.inference.applying import apply_run
from ingram.inference.testing import Beside, rank_split
from ingram.models import load_model
from ingram.models.shipped import EMBEDDING, FOLDER, ZERO_SHOT, names, run_path, shipped
from ingram.training.checkpoints import RunDirectory

WORLD = ingram.open_dataset("world")
TWIN = "zero-shot-twin"


def test_shipped_weights_are_small_and_told_of():
    assert names() == [ZERO_SHOT, EMBEDDING, TWIN]
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.safetensors")) < 3_000_000
    for name in names():
        card = shipped(name).card
        for word in ("Learned on", "Command", "commit", "Bad at"):
            assert word in card


def test_shipped_weights_are_those_their_file_names():
    for name in names():
        model = load_model(run_path(name))
        parts = (p.detach().numpy().tobytes() for _, p in model.named_parameters())
        assert hashlib.sha256(b"".join(parts)).hexdigest()[:12] == model.origin["id"]


def test_no_measured_benchmark_is_among_the_sources():
    for name in names():
        graphs = {graph["name"] for graph in shipped(name).about["origin"]["graphs"]}
        assert graphs <= {"FB15k-237", "WN18RR", "CoDEx-S", "CoDEx-M", "world"}


@pytest.mark.parametrize(("name", "least"), [(ZERO_SHOT, 0.5), (TWIN, 0.5), (EMBEDDING, 0.1)])
def test_a_graph_never_seen_is_ranked_far_better_than_by_chance(name, least):
    config = RunDirectory(run_path(name)).config()
    ranks = rank_split(load_model(run_path(name)), WORLD, "test", config=config).ranks
    assert overall(ranks)["mrr"] > least  # chance is below 0.01


def test_the_twin_s_scores_beside_zero_shot_s_make_it_better():
    model, twin = (load_model(run_path(name)) for name in (ZERO_SHOT, TWIN))
    config, other = (RunDirectory(run_path(name)).config() for name in (ZERO_SHOT, TWIN))
    alone = rank_split(model, WORLD, "valid", config=config)
    both = rank_split(model, WORLD, "valid", config=config, beside=[Beside(twin, other, None)])
    assert overall(both.ranks)["mrr"] > overall(alone.ranks)["mrr"]


def test_one_call_answers_about_a_graph():
    answers = ingram.predict(WORLD.inference, head="Nairobi", relation="capital_of", k=3)
    assert answers["tail"][0] == "Kenya"


def test_names_do_wherever_python_takes_a_run(tmp_path):
    assert isinstance(ingram.load(ZERO_SHOT), ingram.InGramQ)
    assert isinstance(ingram.load(EMBEDDING), ingram.InGram)
    quick = {"training.steps": 1, "training.queries": 2, "evaluation.sample": 2}
    tuned = ingram.fit(WORLD, start=ZERO_SHOT, epochs=1, settings=quick)
    assert tuned.config == ingram.load(ZERO_SHOT).config
    with pytest.raises(
        RunError, match=r"zero-shott: no such file; want a run.*or one of zero-shot"
    ):
        ingram.load("zero-shott")


def test_a_folder_of_the_same_name_wins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_path(ZERO_SHOT) == FOLDER / ZERO_SHOT
    (tmp_path / ZERO_SHOT).mkdir()
    assert run_path(ZERO_SHOT).resolve() == tmp_path / ZERO_SHOT
    with pytest.raises(RunError, match="no such file"):
        apply_run(ZERO_SHOT, WORLD.inference)


def test_weights_that_are_not_shipped_are_named():
    with pytest.raises(RunError, match=r"no shipped weights 'other'; there are .*zero-shot"):
        shipped("other")
