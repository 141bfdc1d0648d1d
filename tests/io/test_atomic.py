import pytest

from ingram.io.atomic import replacing, write_text


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, "old")
    write_text(path, "新しい")
    assert path.read_text(encoding="utf-8") == "新しい"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            assert path.read_text() == "old"
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
