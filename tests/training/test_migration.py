"""A run that an earlier version left is resumed."""

import pytest

from ingram.errors import RunError
from ingram.io.tensors import read_tensors, write_tensors
from ingram.training.checkpoints import FORMAT, RunDirectory
from ingram.training.migration import FORMAT_1
from tests.training.runs import Interrupt, run_in, traces


@pytest.fixture
def old(tmp_path):
    """A run that stopped at epoch 6, laid out as version 1 did: two checkpoints, no sums."""
    path = tmp_path / "run"
    run_in(path, listener=Interrupt(6))
    (newest, *others) = RunDirectory(path).checkpoints()
    tensors, about = read_tensors(newest, FORMAT)
    kinds = {"last": ("model.", "optimizer."), "good": ("good.",)}
    for name, starts in kinds.items():
        some = {n: t for n, t in tensors.items() if n.startswith(starts)}
        progress = {k: v for k, v in about["progress"].items() if k not in ("validations", "start")}
        if name == "good":
            some = {n.removeprefix("good."): t for n, t in some.items()}
            progress |= about["good"]
        said = {"format": FORMAT_1, "progress": progress, **about["data"]}
        write_tensors(path / "checkpoints" / f"{name}.safetensors", some, said)
    for file in (newest, *others):
        file.unlink()
    return path


def test_a_run_of_version_1_resumes_exactly_and_is_of_this_version_then(old, tmp_path):
    run_in(tmp_path / "straight")
    run_in(old, resume=True)
    assert traces(old) == traces(tmp_path / "straight")
    left = sorted(file.name for file in (old / "checkpoints").iterdir())
    assert left
    assert all(name.startswith("epoch-") for name in left)


def test_a_version_to_come_is_refused_by_name(old):
    last = old / "checkpoints" / "last.safetensors"
    tensors, about = read_tensors(last, FORMAT_1)
    write_tensors(last, tensors, about | {"format": "ingram-checkpoint-9"})
    with pytest.raises(
        RunError, match="want format 'ingram-checkpoint-1', got 'ingram-checkpoint-9'"
    ):
        run_in(old, resume=True)
