import pytest

from ingram.errors import ConfigError
from ingram.models.config import QueryModelConfig
from ingram.training.config import Config, QueryConfig, dump_config, load_config
from ingram.training.presets import PRESETS, preset_config


def test_the_paper_preset_is_the_published_defaults_and_protocol():
    paper = PRESETS["paper"]
    t, e = paper.training, paper.evaluation
    assert (t.margin, t.learning_rate, t.negatives, t.clip_norm) == (2, 5e-4, 10, 0.1)
    assert (t.epochs, t.validate_every, t.message_share) == (10_000, 200, 0.75)
    assert (e.draws, e.features, e.ties) == (1, "chosen", "official")
    assert t.on_collapse == "report"
    assert t.dynamic_split
    assert t.patience is None
    assert (paper.model.sides, paper.model.head_questions) == ("together", "relation")
    assert (paper.model.readout, paper.model.sketch_width) == ("last", 0)
    assert paper.model.loops == "any"


def test_the_default_preset_is_stable():
    default = PRESETS["default"]
    assert default.training.on_collapse == "recover"
    assert default.evaluation.draws > 1
    assert default.evaluation.features == "fresh"
    assert default.evaluation.ties == "realistic"


def test_the_default_preset_asks_questions_about_tasks_and_pretraining_the_same_of_many_graphs():
    single, many = PRESETS["default"], PRESETS["pretrain-embedding"]
    assert single.model == many.model
    assert (single.model.sides, single.model.head_questions) == ("apart", "inverse")
    assert (single.model.readout, single.model.sketch_width) == ("all", 128)
    for preset in (single, many):
        assert preset.training.objective == "cross-entropy"
        assert preset.training.warmup + preset.training.decay == 1
        assert preset.tasks.cut
    assert (single.training.keep, many.training.keep) == ("best", "last")


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_configuration_survives_its_file(preset, tmp_path):
    config = PRESETS[preset].with_settings({"model.bins": 3, "training.patience": 5})
    (tmp_path / "config.yaml").write_text(dump_config(config))
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("training.learning_rate", "1e-3", 1e-3),
        ("training.learning_rate", "0.001", 1e-3),
        ("training.dynamic_split", "false", False),
        ("training.patience", "null", None),
        ("model.bins", "5", 5),
        ("model.bins", 5, 5),
        ("model.aggregator", "sum", "sum"),
        ("evaluation.ties", "official", "official"),
    ],
)
def test_settings_may_be_text_as_in_yaml(name, value, wanted):
    section, key = name.split(".")
    config = Config().with_settings({name: value})
    assert getattr(getattr(config, section), key) == wanted


@pytest.mark.parametrize(
    ("preset", "name", "why"),
    [
        ("default", "training.margin", "training.objective=cross-entropy"),
        ("default", "training.negatives", "training.objective=cross-entropy"),
        ("paper", "training.queries", "training.objective=margin"),
        ("paper", "training.recovery_rate", "training.on_collapse=report"),
        ("paper", "tasks.entities", "tasks.cut=false"),
        ("mean", "model.bins", "model.aggregator=mean"),
        ("still", "model.sides", "model.relation_update=false"),
        ("paper", "model.sketch_parts", "model.sketch_width=0"),
    ],
)
def test_a_setting_that_nothing_reads_is_refused(preset, name, why):
    section, key = name.split(".")
    changes = {"mean": {"model.aggregator": "mean"}, "still": {"model.relation_update": False}}
    config = PRESETS.get(preset) or PRESETS["default"].with_settings(changes[preset])
    value = config.model_dump()[section][key]
    with pytest.raises(ConfigError, match=f"{name}: nothing reads it where {why}"):
        config.with_settings({name: value})
    free = {"training.objective": "margin", "model.head_questions": "relation"}
    if preset == "default":
        PRESETS[preset].with_settings({**free, name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model.bin": 5}, "no setting 'model.bin'; known are model.name, model.relation_width"),
        ({"bins": 5}, "no setting 'bins'; did you mean model.bins?"),
        ({"training.bins": 5}, "no setting 'training.bins'; did you mean model.bins?"),
        ({"nonsense.bins": 5}, "no setting 'nonsense.bins'; did you mean model.bins?"),
        ({"model.bins": "many"}, "model.bins: Input should be a valid integer"),
        ({"model.bins": 0}, "model.bins: Input should be greater than or equal to 1, got 0"),
        (
            {"training.learning_rate": "-1"},
            "training.learning_rate: Input should be greater than 0",
        ),
        ({"training.learning_rate": "nan"}, "training.learning_rate: "),
        ({"training.message_share": 1}, "training.message_share: Input should be less than 1"),
        ({"training.seed": -1}, "training.seed: "),
        (
            {"model.aggregator": "max"},
            "model.aggregator: Input should be 'attention', 'mean' or 'sum'",
        ),
        ({"model.entity_heads": 3}, "model: Value error, entity_hidden must be a multiple of"),
        ({"model.bins": "[1"}, "model.bins: want a YAML value, got '[1'"),
        ({"model.bins": "a: b: c"}, "model.bins: want a YAML value, got 'a: b: c'"),
    ],
    ids=str,
)
def test_a_bad_setting_is_refused_in_one_line(settings, message):
    with pytest.raises(ConfigError) as caught:
        Config().with_settings(settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model: {bins: x}", "config.yaml: model.bins: Input should be a valid integer"),
        ("modle: {}", "config.yaml: modle: Extra inputs are not permitted"),
        ("model: [1", "config.yaml: want YAML, got "),
        ("- 1\n- 2\n", "config.yaml: "),
        ("\xff", None),
    ],
)
def test_a_bad_file_is_refused_in_one_line(content, message, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert (message or "config.yaml: want YAML, got") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(ConfigError, match=r"config\.yaml: no such file"):
        load_config(tmp_path / "config.yaml")


def test_an_empty_file_is_the_defaults(tmp_path):
    (tmp_path / "config.yaml").write_text("")
    assert load_config(tmp_path / "config.yaml") == Config()


def test_the_presets_of_the_query_conditioned_model():
    single, many = PRESETS["ingram-q"], PRESETS["pretrain"]
    assert single.model == QueryModelConfig(maxima=True, loops="stated")
    assert many.model == QueryModelConfig(maxima=False, loops="stated")
    for preset in (single, many):
        t = preset.training
        assert t.warmup + t.decay == 1
        assert t.epochs % t.validate_every == 0
        assert preset.tasks.cut
        assert preset.evaluation.sample == 500
    assert many.training.epochs > single.training.epochs
    assert (single.training.keep, many.training.keep) == ("best", "last")
    assert not PRESETS["paper"].tasks.cut


def test_every_preset_is_found_by_its_name():
    for name, config in PRESETS.items():
        assert preset_config(name, {}) == config
        kind = QueryConfig if config.model.name == "ingram-q" else Config
        assert type(preset_config(name, {"training.epochs": 3})) is kind
    with pytest.raises(ConfigError, match="known are default, paper, ingram-q, pretrain"):
        preset_config("best", {})


def test_the_settings_of_tasks_survive_a_file_and_may_be_text(tmp_path):
    settings = {
        "tasks.entities": "[10, 20]",
        "tasks.relations": "[0.5, 0.5]",
        "training.averaging": "0.99",
        "evaluation.sample": "null",
    }
    config = QueryConfig().with_settings(settings)
    assert config.tasks.entities == (10, 20)
    assert config.tasks.relations == (0.5, 0.5)
    assert config.evaluation.sample is None
    assert not config.with_settings({"tasks.cut": "false"}).tasks.cut
    (tmp_path / "config.yaml").write_text(dump_config(config))
    loaded = load_config(tmp_path / "config.yaml")
    assert type(loaded) is QueryConfig
    assert loaded == config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tasks.entities": "[20, 10]"}, "tasks.entities: Value error, the first of a pair"),
        ({"tasks.neighbours": "[9, 2]"}, "tasks.neighbours: Value error, the first of a pair"),
        ({"tasks.relations": "[0.9, 0.2]"}, "tasks.relations: Value error, the first of a pair"),
        ({"tasks.relations": "[0.9, 1.2]"}, "tasks.relations.1: Input should be less than"),
        ({"tasks.entities": "10"}, "tasks.entities: Input should be a valid tuple, got 10"),
        ({"training.queries": "1"}, "training.queries: Input should be greater than or equal to 2"),
        ({"training.averaging": "1"}, "training.averaging: Input should be less than 1"),
        ({"training.margin": "1"}, "no setting 'training.margin'; known are model.name, "),
        ({"evaluation.draws": "1"}, "no setting 'evaluation.draws'; known are "),
        ({"model.name": "ingram"}, "model.name: Input should be 'ingram-q', got 'ingram'"),
        ({"steps": "1"}, "no setting 'steps'; did you mean training.steps?"),
        (
            {"training.dynamic_split": "false"},
            "settings: Value error, training.dynamic_split=false",
        ),
        ({"training.warmup": "0.2"}, "settings: training: Value error, warmup and decay are parts"),
    ],
    ids=str,
)
def test_a_bad_setting_of_the_query_conditioned_model_is_refused_in_one_line(settings, message):
    with pytest.raises(ConfigError) as caught:
        QueryConfig().with_settings(settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model: {name: ingram-z}", "model.name: Input should be 'ingram', got 'ingram-z'"),
        ("model: {name: ingram-q, bins: x}", "model.bins: Input should be a valid integer"),
        ("model: {name: ingram-q}\ntraining: {margin: 1}", "training.margin: Extra inputs"),
        ("training: {steps: 3}", "training.steps: Extra inputs are not permitted"),
    ],
)
def test_a_file_for_the_other_model_is_refused_in_one_line(content, message, tmp_path):
    (tmp_path / "config.yaml").write_text(content)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "config.yaml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_inverse_vectors_are_asked_and_not_set_apart_by_a_margin():
    wanted = {"model.head_questions": "inverse"}
    with pytest.raises(ConfigError, match=r"wants training\.objective=cross-entropy"):
        PRESETS["paper"].with_settings(wanted)
    config = PRESETS["paper"].with_settings({**wanted, "training.objective": "cross-entropy"})
    assert config.model.head_questions == "inverse"
