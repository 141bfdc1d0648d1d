import pytest
import torch
from safetensors.torch import save_file

from ingram.errors import RunError
from ingram.io.tensors import checked_tensor, read_tensors, write_tensors


def test_tensors_and_description_come_back(tmp_path):
    path = tmp_path / "t.safetensors"
    about = {"format": "x", "nested": {"a": [1, 2]}}
    write_tensors(path, {"a": torch.arange(3)}, about)
    tensors, found = read_tensors(path, "x")
    assert tensors["a"].tolist() == [0, 1, 2]
    assert found == about
    assert list(tmp_path.iterdir()) == [path]


def test_equal_contents_are_equal_bytes(tmp_path):
    tensors = {name: torch.full((3,), 1.5) for name in "dabc"}
    for name in ("one", "other"):
        write_tensors(tmp_path / name, tensors, {"format": "x", "b": 1, "a": 2})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_file_of_another_format_is_refused(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.arange(3)}, {"format": "x"})
    with pytest.raises(RunError, match=r"t\.safetensors: want format 'y', got 'x'"):
        read_tensors(path, "y")
    for metadata in (None, {}, {"ingram": "[]"}, {"ingram": "null"}):
        save_file({"a": torch.arange(3)}, path, metadata)
        with pytest.raises(RunError, match=r"t\.safetensors: want format 'x'"):
            read_tensors(path, "x")
    save_file({"a": torch.arange(3)}, path, {"ingram": "{"})
    with pytest.raises(RunError, match=r"t\.safetensors: want"):
        read_tensors(path, "x")


def test_a_folder_is_no_file_of_tensors(tmp_path):
    with pytest.raises(RunError, match="want a safetensors file"):
        read_tensors(tmp_path, "x")


def test_a_tensor_is_checked_for_presence_and_shape(tmp_path):
    tensors = {"a": torch.zeros(2, 3)}
    assert checked_tensor(tmp_path, tensors, "a", (2, 3)) is tensors["a"]
    with pytest.raises(RunError, match="holds no tensor 'b'"):
        checked_tensor(tmp_path, tensors, "b", (2, 3))
    with pytest.raises(RunError, match=r"a wants shape \(3, 2\), got \(2, 3\)"):
        checked_tensor(tmp_path, tensors, "a", (3, 2))
