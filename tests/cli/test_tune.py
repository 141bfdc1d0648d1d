"""`ingram tune`: a search that goes on where it was killed."""

import json
from pathlib import Path

import pytest
from tests.verbs import ingram, user_error, write_dataset

from ingram.errors import MissingPackageError
from ingram.experiments import tuning
from ingram.experiments.tuning import APPENDIX_C, SPACES, Search
from ingram.experiments.tuning_page import importance
from ingram.training import PRESETS, load_config
from ingram.training.steps import Steps

optuna = pytest.importorskip("optuna")
QUICK = ("--epochs", 2, "--set", "training.validate_every=1", "--threads", 1, "--json")


def study_in(folder: Path):
    return optuna.load_study(study_name="ingram", storage=f"sqlite:///{folder / 'study.db'}")


def states(folder: Path) -> list[str]:
    return [trial.state.name for trial in study_in(folder).trials]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "tiny"
    write_dataset(folder)
    return folder


@pytest.fixture(scope="module")
def searched(data, tmp_path_factory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("study")
    said = ingram("tune", data, "-o", out, "--preset", "ingram-q", "--trials", 4, *QUICK)
    return out, json.loads(said)


def test_the_space_of_the_embedding_model_is_appendix_c():
    sizes = {name.partition(".")[2]: len(values) for name, values in APPENDIX_C.items()}
    assert sizes == {
        "relation_hidden": 4, "entity_hidden": 2, "relation_layers": 3, "entity_layers": 3,
        "relation_heads": 2, "entity_heads": 2, "bins": 3, "margin": 4, "learning_rate": 2,
    }  # fmt: skip


@pytest.mark.parametrize("preset", ["paper", "default", "ingram-q"])
def test_every_preset_lies_in_its_space_and_every_choice_is_valid(preset):
    config = PRESETS[preset]
    space = Search(Path("out"), config, trials=1, epochs=1).space
    assert set(SPACES[config.model.name]) - set(space) == (
        {"training.margin"} if preset == "default" else set()  # cross-entropy reads no margin
    )
    for name, values in space.items():
        section, key = name.split(".")
        assert config.model_dump()[section][key] in values
        for value in values:
            config.with_settings({name: value})


def test_the_preset_is_tried_first_and_the_best_is_written_for_config(searched):
    out, said = searched
    trials = study_in(out).trials
    assert {f"{k}" for k in trials[0].params} == set(SPACES["ingram-q"])
    assert PRESETS["ingram-q"].with_settings(trials[0].params) == PRESETS["ingram-q"]
    best = load_config(out / "best.yaml")
    assert best.training.epochs == PRESETS["ingram-q"].training.epochs
    assert best.with_settings(said["params"]) == best
    assert said["mrr"] == max(t.value for t in trials if t.state.name == "COMPLETE")
    assert (out / "best.yaml").read_text().startswith("# The best of 4 trials of 2 epochs")


def test_the_report_shows_history_importance_and_trials(searched):
    out, _ = searched
    page = (out / "report.html").read_text()
    assert all(f"<h2>{name}</h2>" in page for name in ("History", "Importance", "Trials"))
    assert page.count("<svg") == 2
    found = importance(study_in(out))
    assert set(found) == set(SPACES["ingram-q"])


def test_enough_trials_are_enough(searched, data, monkeypatch):
    out, said = searched
    monkeypatch.setattr(Steps, "epoch", lambda *_: pytest.fail("a trial too many"))
    words = ("--preset", "ingram-q", "--trials", 4, *QUICK)
    assert json.loads(ingram("tune", data, "-o", out, *words)) == said


def test_what_the_search_starts_from_is_among_the_choices():
    odd = PRESETS["default"].with_settings({"training.learning_rate": 0.03, "model.bins": 7})
    space = Search(Path("out"), odd, trials=1, epochs=1).space
    assert space["training.learning_rate"] == (5e-4, 1e-3, 0.03)
    assert space["model.bins"] == (1, 5, 7, 10)


def test_a_study_begun_before_a_setting_existed_goes_on(tmp_path):
    search = Search(tmp_path, PRESETS["paper"], trials=1, epochs=1)
    study = search.study()
    without = study.user_attrs["config"].replace("  loops: any\n", "")
    assert without != study.user_attrs["config"]
    study.set_user_attr("config", without)
    assert search.study().user_attrs["config"] == without


def test_choices_that_do_not_go_together_end_their_trial_alone(tmp_path):
    odd = PRESETS["paper"].with_settings({"model.relation_hidden": 72})
    search = Search(tmp_path, odd, trials=1, epochs=1)
    study, heard = search.study(), []
    start = {name: values[0] for name, values in search.space.items()}
    study.enqueue_trial({**start, "model.relation_hidden": 72, "model.relation_heads": 16})
    assert tuning.run_trials(search, [], None, heard.append, "tune") is None
    assert states(tmp_path) == ["PRUNED"]
    assert "multiple of relation_heads" in heard[0]


def test_a_seed_is_no_setting_of_a_trial(data, tmp_path, capsys):
    line = user_error(capsys, "tune", data, "-o", tmp_path, "--set", "training.seed=3")
    assert "give --seed" in line


def test_another_budget_is_another_study(searched, data, capsys):
    words = ("--preset", "ingram-q", "--trials", 9, "--epochs", 3, "--threads", 1)
    words += ("--set", "training.validate_every=1")
    line = user_error(capsys, "tune", data, "-o", searched[0], *words)
    assert "begun with 2 epochs a trial" in line


def test_a_trial_cut_short_goes_on_in_its_own_directory(data, tmp_path, monkeypatch):
    words = ("tune", data, "-o", tmp_path, "--preset", "ingram-q", "--trials", 1, *QUICK)
    epoch = Steps.epoch

    def killed(self, number):
        if number == 2:
            raise SystemError("as if by kill -9")
        return epoch(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "epoch", killed)
        with pytest.raises(SystemError):
            ingram(*words)
    assert states(tmp_path) == ["RUNNING"]
    ingram(*words)
    assert states(tmp_path) == ["FAIL", "COMPLETE"]
    assert [path.name for path in (tmp_path / "trials").iterdir()] == ["0"]
    lines = (tmp_path / "trials" / "0" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2]
    assert list(study_in(tmp_path).trials[1].intermediate_values) == [1, 2]


def test_a_trial_behind_the_others_is_ended_early(tmp_path):
    search = Search(tmp_path, PRESETS["ingram-q"], 9, 8)
    search.prepare()
    study = search.study()
    for _ in range(5):
        trial = study.ask()
        for step in range(1, 9):
            trial.report(0.5, step)
        study.tell(trial, 0.5)
    judge = tuning._Judge(study.ask())
    judge.validated({"mrr": 0.1, "epoch": 1})
    with pytest.raises(optuna.TrialPruned):
        judge.validated({"mrr": 0.1, "epoch": 4})


def test_several_processes_share_a_study(data, tmp_path):
    words = ("--preset", "ingram-q", "--trials", 2, "--workers", 2, *QUICK)
    said = json.loads(ingram("tune", data, "-o", tmp_path, *words))
    assert said["ended"] >= 2
    assert len(list((tmp_path / "trials").iterdir())) == said["ended"]


def test_without_optuna_an_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(tuning, "import_module", missing)
    with pytest.raises(MissingPackageError, match=r"pip install \"ingram\[tune\]\""):
        tuning.optuna_package()
