"""A task that does not fit is refused in one line, before anything is allocated."""

import pytest
import torch

from ingram import memory
from ingram.errors import ConfigError, MemoryNeedError
from ingram.inference.testing import rank_split
from ingram.models import InGram, InGramQ
from ingram.training import PRESETS, train
from ingram.training.checkpoints import RunDirectory
from tests.strategies import random_graph
from tests.tiny import tiny_config, tiny_dataset, tiny_run_config

GIB = 2**30
FILES = {
    "system": {"proc/meminfo": "MemTotal: 9437184 kB\nMemAvailable: 8388608 kB\n"},
    "version 2": {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/b/memory.max": "max",
        "sys/fs/cgroup/a/b/memory.current": "1",
        "sys/fs/cgroup/a/memory.max": str(4 * GIB),
        "sys/fs/cgroup/a/memory.current": str(3 * GIB),
        "sys/fs/cgroup/a/memory.stat": f"anon 5\ninactive_file {GIB}\n",
    },
    "version 1": {
        "proc/self/cgroup": "5:cpu:/x\n4:memory,other:/docker/c\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": str(3 * GIB),  # a container sees its top only
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 0\n",
    },
    "no limit": {
        "proc/self/cgroup": "4:memory:/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(2 * GIB),
    },
    "nonsense": {"proc/self/cgroup": "hello", "proc/meminfo": "MemAvailable: much\n"},
}


@pytest.mark.parametrize(
    ("told", "free"),
    [
        (["system"], 8 * GIB),
        (["system", "version 2"], 2 * GIB),
        (["system", "version 1"], GIB),
        (["system", "no limit"], 8 * GIB),
        (["nonsense"], None),
        ([], None),
    ],
    ids=str,
)
def test_free_is_the_least_that_system_and_control_groups_leave(told, free, tmp_path, monkeypatch):
    for name in told:
        for file, text in FILES[name].items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text)
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    assert memory.free_bytes() == free


def test_this_machine_has_some_memory_free():
    assert memory.free_bytes() > 0


def test_the_environment_may_say_what_is_free(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "1.5")
    assert memory.free_bytes() == 1.5 * GIB
    monkeypatch.setenv(memory.VARIABLE, "much")
    with pytest.raises(ConfigError, match="INGRAM_MEMORY wants a number of gibibytes, got 'much'"):
        memory.free_bytes()


def test_where_nothing_is_known_of_memory_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    memory.ensure(2**70, "everything", "ask for less")


def test_the_message_says_how_much_and_what_to_change(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "1")
    memory.ensure(GIB // 2, "this", "do that")
    with pytest.raises(MemoryNeedError) as caught:
        memory.ensure(5 * GIB, "this", "do that")
    assert str(caught.value) == "this needs about 5.1 GiB of memory, and 1.0 GiB are free; do that"


@pytest.fixture
def little(monkeypatch):
    """As if only 64 MiB were free."""
    monkeypatch.setenv(memory.VARIABLE, "0.0625")


def test_a_run_that_does_not_fit_is_refused_and_leaves_nothing(tmp_path, little):
    with pytest.raises(MemoryNeedError, match=r"training needs about \d+ MiB of memory, and 64"):
        train(tiny_dataset(), tiny_run_config(), RunDirectory(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_layers_of_absurd_width_are_refused_before_they_are_made(tmp_path, monkeypatch):
    made = []
    create = InGram._create
    monkeypatch.setattr(
        InGram,
        "_create",
        lambda self, c: made.append(torch.get_default_device()) or create(self, c),
    )
    config = PRESETS["default"].with_settings({"model.entity_hidden": 100_000})
    with pytest.raises(MemoryNeedError, match=r"training needs about .* GiB"):
        train(tiny_dataset(), config, RunDirectory(tmp_path / "run"))
    assert [device.type for device in made] == ["meta"]


def test_embedding_answering_and_ranking_are_refused_too(little):
    graph, model = random_graph(0, 9, 3, 30), InGram(tiny_config())
    with pytest.raises(MemoryNeedError, match=r"embedding needs about .* lower draws"):
        model.embed(graph)
    with pytest.raises(MemoryNeedError, match="answering needs about"):
        InGramQ().scorer(graph)
    with pytest.raises(MemoryNeedError):
        rank_split(model, tiny_dataset(), "test", config=tiny_run_config())


@pytest.mark.parametrize(
    ("preset", "settings", "remedy"),
    [
        ("default", {"evaluation.draws": 1000}, r"lower evaluation\.draws"),
        ("paper", {"training.draws": 1000}, r"set tasks\.cut=true, or lower model\.entity_hidden"),
        (
            "default",
            {"training.draws": 1000, "evaluation.draws": 1},
            r"lower training\.queries or tasks\.entities, or lower model\.entity_hidden",
        ),
        ("default", {"model.entity_hidden": 50_000}, "take a smaller model"),
        ("ingram-q", {"training.queries": 10_000}, r"lower training\.queries"),
    ],
)
def test_the_remedy_names_what_is_large(preset, settings, remedy, tmp_path, little):
    config = PRESETS[preset].with_settings(settings)
    with pytest.raises(MemoryNeedError, match=remedy):
        train(tiny_dataset(), config, RunDirectory(tmp_path / "run"))
