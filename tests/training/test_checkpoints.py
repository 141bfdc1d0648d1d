import pytest
import torch

from ingram.errors import RunError
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import InGram
from ingram.training.checkpoints import FORMAT, KEPT, RunDirectory, load_checkpoint
from ingram.training.config import Config
from ingram.training.optimizer import ClippedAdamW
from ingram.training.stability import CollapseWatch
from ingram.training.state import Progress, State
from tests.tiny import tiny_config, tiny_run_config


def new_state(seed=0, config=None):
    """A model and an optimiser with a step behind them."""
    model = InGram(config or tiny_config(), seed=seed)
    optimizer = ClippedAdamW(model.parameters())
    sum(p.square().sum() for p in model.parameters()).backward()
    optimizer.step()
    return State(model, optimizer, data={"graphs": []})


@pytest.fixture
def run(tmp_path):
    directory = RunDirectory(tmp_path / "deep" / "run")
    directory.make()
    directory.begin(tiny_run_config(), new_state())
    return directory


def test_a_run_begins_with_its_configuration_a_checkpoint_and_no_metrics(run):
    assert run.config() == tiny_run_config()
    assert run.metrics() == []
    assert [path.name for path in run.checkpoints()] == ["epoch-0000000000.safetensors"]


def test_a_directory_that_holds_a_run_is_refused(run):
    with pytest.raises(RunError, match="holds a run already; resume it with --resume"):
        run.begin(Config(), new_state())
    assert run.config() == tiny_run_config()


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot make the run directory: Not a directory"):
        RunDirectory(tmp_path / "file" / "run").make()


def test_a_directory_without_a_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"want a run directory, found no config\.yaml"):
        RunDirectory(tmp_path).config()


@pytest.mark.parametrize(
    "cut", ['{"epoch": 16, "m', '{"epoch": 16, "mrr": 0.5}', "[]\n", "{}\n", "[" * 10**5 + "\n"]
)
def test_metrics_end_before_a_line_that_cannot_be_read(run, cut):
    for epoch in (4, 8):
        run.append_metrics({"epoch": epoch, "mrr": 0.1})
    with run.metrics_path.open("a") as file:
        file.write(cut)
    assert [r["epoch"] for r in run.metrics()] == [4, 8]


def test_a_checkpoint_brings_back_all_of_a_state(run):
    state = new_state()
    state.progress = Progress(
        epoch=3, learning_rate=1e-3, watch=CollapseWatch(best_mrr=0.1, first_loss=2.0)
    )
    state.keep_as_good()
    state.keep_as_best(state.model, {"draws": 3})
    with torch.no_grad():
        for parameter in state.model.parameters():
            parameter += 1
    state.progress = Progress(
        epoch=7,
        learning_rate=1e-3,
        loss_sum=1 / 3,
        loss_count=2,
        best={"epoch": 3, "mrr": 0.1},
        stale=1,
        collapses=[{"epoch": 3}],
        watch=CollapseWatch(best_mrr=0.1, jumped=True),
        validations=2,
    )
    run.save(state)

    other = new_state(seed=1)
    run.load(other)
    assert other.progress == state.progress
    assert (other.good.epoch, other.good.watch) == (3, state.good.watch)
    assert other.best.origin == state.best.origin
    for ours, theirs in (
        (state.moment(), other.moment()),
        (state.good.tensors, other.good.tensors),
        (state.best.weights, other.best.weights),
    ):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert list(other.best.weights) == list(state.best.weights)  # their id depends on the order


def test_the_last_checkpoints_are_kept(run):
    state = new_state()
    for epoch in range(1, 7):
        state.progress.epoch = epoch
        run.save(state)
        assert len(run.checkpoints()) == min(KEPT, epoch + 1)
    names = [path.name for path in run.checkpoints()]
    assert names == [f"epoch-{epoch:010}.safetensors" for epoch in (6, 5, 4)]


def two_checkpoints(run):
    state = new_state()
    for epoch in (4, 8):
        state.progress.epoch = epoch
        run.save(state)
    return run.checkpoints()[0]


def _cut(data):
    return data[: len(data) // 2]


def _flipped(data):
    return data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]


@pytest.mark.parametrize("damage", [_cut, _flipped, lambda data: b"", lambda data: b"\0" * 900])
def test_a_damaged_checkpoint_is_passed_over_with_a_word(run, damage, caplog):
    last = two_checkpoints(run)
    last.write_bytes(damage(last.read_bytes()))
    state = new_state()
    run.load(state)
    assert state.progress.epoch == 4
    [said] = caplog.messages
    assert str(last) in said
    assert said.endswith("going on from epoch-0000000004.safetensors instead")


def test_damaged_checkpoints_alone_are_refused_by_name(run):
    two_checkpoints(run)
    for path in run.checkpoints():
        path.write_bytes(_cut(path.read_bytes()))
    with pytest.raises(RunError, match=r"epoch-0000000008.*no other checkpoint can be read"):
        run.load(new_state())


def test_a_checkpoint_of_another_model_or_format_is_refused(run):
    path = run.checkpoints()[0]
    wider = new_state(config=tiny_config(bins=9))
    with pytest.raises(
        RunError, match=r"relation_layers.0.bins wants shape \(9, 3\), got \(3, 3\)"
    ):
        load_checkpoint(path, wider)
    state = new_state()
    tensors, about = read_tensors(path, FORMAT)
    for bad in (
        {}, {"epoch": 1, "watch": {"unknown": 1}}, [], None, {"watch": {}, "unknown": 1},
        {"epoch": -1}, {"best": {"mrr": 1}}, {"best": {"mrr": "x", "epoch": 1}}, {"epoch": "x"},
        {"watch": 3}, {"learning_rate": float("nan")},
    ):  # fmt: skip
        write_tensors(path, tensors, about | {"progress": bad})
        if bad == {}:
            load_checkpoint(path, state)
            continue
        with pytest.raises(RunError, match="its description cannot be read"):
            load_checkpoint(path, state)
    for bad in ({"good": 3}, {"good": {"epoch": 0}}, {"data": 3}, {"best": []}):
        write_tensors(path, tensors, about | bad)
        with pytest.raises(RunError, match=r"description cannot be read|holds no tensor"):
            load_checkpoint(path, state)
    fewer = {k: t for k, t in tensors.items() if not k.startswith("optimizer.exp_avg.")}
    write_tensors(path, fewer, about)
    with pytest.raises(RunError, match="its description cannot be read"):
        load_checkpoint(path, state)
    state.model.save(path, {})  # a model is no checkpoint
    with pytest.raises(RunError, match=r"want format 'ingram-checkpoint-2', got 'ingram-model-1'"):
        load_checkpoint(path, state)


def test_nothing_is_left_beside_the_files(run):
    state = new_state()
    state.keep_as_best(state.model, {})
    run.save(state)
    run.write_best(state)
    with run.locked():
        assert (run.path / ".lock").exists()
    found = sorted(p.relative_to(run.path).as_posix() for p in run.path.rglob("*"))
    assert found == [
        "checkpoints", "checkpoints/epoch-0000000000.safetensors",
        "config.yaml", "metrics.jsonl", "model.safetensors",
    ]  # fmt: skip


def test_what_a_killed_process_left_half_written_is_swept_away(run):
    for folder in (run.path, run.path / "checkpoints"):
        (folder / ".file.123.tmp").write_text("half")
    run.sweep()
    assert not list(run.path.rglob("*.tmp"))


LINKED = {
    "metrics.jsonl": lambda run, state: run.append_metrics({"epoch": 1, "mrr": 1.0}),
    "model.safetensors": lambda run, state: run.write_best(state),
    "config.yaml": lambda run, state: run.config(),
}


@pytest.mark.parametrize("name", LINKED)
def test_a_link_out_of_the_directory_is_refused(run, tmp_path, name):
    """Who resumes a stranger's run must not write into files of their own."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (run.path / name).unlink(missing_ok=True)
    (run.path / name).symlink_to(mine)
    with pytest.raises(RunError, match="leads out of the run directory"):
        LINKED[name](run, new_state())
    assert mine.read_text() == "mine"


def test_a_folder_of_checkpoints_elsewhere_is_refused(run, tmp_path):
    (run.path / "checkpoints").rename(tmp_path / "elsewhere")
    (run.path / "checkpoints").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="leads out of the run directory"):
        run.save(new_state())


def test_a_link_to_the_whole_directory_is_fine(run, tmp_path):
    (tmp_path / "link").symlink_to(run.path)
    RunDirectory(tmp_path / "link").save(new_state())
