import pytest
import torch
from safetensors.torch import save_file

from ingram.errors import RunError
from ingram.io.tensors import check_shapes, read_tensors, write_tensors


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


def test_names_and_shapes_are_checked(tmp_path):
    check_shapes(tmp_path, {"a": [2, 3]}, {"a": (2, 3)}, {"b": ()})
    with pytest.raises(RunError, match="holds no tensor 'b'"):
        check_shapes(tmp_path, {"a": [2, 3]}, {"a": (2, 3), "b": ()})
    with pytest.raises(RunError, match="want no tensor 'b', got one"):
        check_shapes(tmp_path, {"a": [2, 3], "b": []}, {"a": (2, 3)})
    with pytest.raises(RunError, match=r"a wants shape \(3, 2\), got \(2, 3\)"):
        check_shapes(tmp_path, {"a": [2, 3]}, {"a": (3, 2)})


def test_what_the_check_refuses_is_not_read(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.zeros(2)}, {"format": "x"})
    seen = []

    def check(about, shapes):
        seen.append((about["format"], shapes))
        raise RunError("no")

    with pytest.raises(RunError, match="no"):
        read_tensors(path, "x", check=check)
    assert seen == [("x", {"a": [2]})]
    write_tensors(path, {"a": torch.arange(3)}, {"format": "x"})
    with pytest.raises(RunError, match="'a' wants floats, got I64"):
        read_tensors(path, "x", check=check)


def test_a_flipped_bit_anywhere_is_noticed(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.rand(5), "b": torch.tensor(1.0)}, {"format": "x", "n": 0.25})
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (0, 4):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            path.write_bytes(data)
            with pytest.raises(RunError, match=r"t\.safetensors"):
                read_tensors(path, "x")


def test_a_file_from_before_checksums_is_read(tmp_path):
    path = tmp_path / "t.safetensors"
    save_file({"a": torch.ones(3)}, path, {"ingram": '{"format": "x-1"}'})
    assert read_tensors(path, "x-1")[0]["a"].tolist() == [1, 1, 1]
    save_file({"a": torch.ones(3)}, path, {"ingram": '{"format": "x-2"}'})
    with pytest.raises(RunError, match="is damaged: its content is not what its checksum says"):
        read_tensors(path, "x-2")
