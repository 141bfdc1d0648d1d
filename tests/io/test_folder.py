import gzip

import pytest

from ingram.errors import DatasetError, SplitError, TriplesError
from ingram.graph import Dataset
from ingram.io import ReadOptions, read_dataset

FILES = {
    "train": "a\tp\tb\nb\tq\tc\n",
    "msg": "x\tq\ty\ny\tnew\tz\n",
    "valid": "x\tnew\tz\n",
    "test": "z\tq\tx\nw\tother\tx\n",
}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "toy"
    path.mkdir()
    for name, content in FILES.items():
        (path / f"{name}.txt").write_text(content)
    return path


def check(dataset: Dataset):
    assert dataset.name == "toy"
    assert dataset.inductive
    assert dataset.train.entities.labels.to_list() == ["a", "b", "c"]
    assert dataset.train.triples.tolist() == [[0, 0, 1], [1, 1, 2]]
    # Ids: msg first, then what valid and test add.
    assert dataset.inference.entities.labels.to_list() == ["x", "y", "z", "w"]
    assert dataset.inference.relations.labels.to_list() == ["q", "new", "other"]
    assert dataset.inference.triples.tolist() == [[0, 0, 1], [1, 1, 2]]
    assert dataset.valid.tolist() == [[0, 1, 2]]
    assert dataset.test.tolist() == [[2, 0, 0], [3, 2, 0]]
    assert dataset.known_relations.tolist() == [True, False, False]


def test_a_folder_of_four_files_is_a_dataset(folder):
    check(read_dataset(folder))
    check(read_dataset(str(folder)))


def test_the_files_may_be_gzipped(folder):
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    check(read_dataset(folder))


def test_duplicates_are_dropped_from_every_part(folder):
    for path in folder.iterdir():
        path.write_text(path.read_text() * 2)
    check(read_dataset(folder))


@pytest.mark.parametrize("name", ["train", "valid", "test"])
def test_a_missing_file_is_refused_with_what_is_there(folder, name):
    (folder / f"{name}.txt").unlink()
    with pytest.raises(DatasetError) as caught:
        read_dataset(folder)
    held = ", ".join(f"{n}.txt" for n in sorted(FILES) if n != name)
    message = str(caught.value)
    assert message.startswith(f"{folder}: ")
    assert f"the folder holds {held};" in message
    assert f"the four-file form wants train, msg, valid, test (lacks {name})" in message
    assert "\n" not in message


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="the folder holds nothing"):
        read_dataset(tmp_path)


def test_a_bad_line_is_refused_with_its_file(folder):
    (folder / "valid.txt").write_text("x\tnew\n")
    with pytest.raises(TriplesError, match=r"valid\.txt:1: want 3 tab-separated fields, got 2"):
        read_dataset(folder)


def test_a_missing_path_is_refused(tmp_path):
    with pytest.raises(TriplesError, match="nowhere: no such file"):
        read_dataset(tmp_path / "nowhere")


def dense_lines(count=10):
    return "".join(f"e{i}\tr{(i + j) % 3}\te{j}\n" for i in range(count) for j in range(count))


def test_one_file_holds_part_of_its_triples_out_and_is_not_inductive(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_text(dense_lines())
    dataset = read_dataset(path, seed=1)
    assert dataset.name == "graph.tsv"
    assert not dataset.inductive
    assert dataset.train is dataset.inference
    assert dataset.train.num_triples == 80
    assert len(dataset.valid) == len(dataset.test) == 10
    parts = [dataset.train.triples.tolist(), dataset.valid.tolist(), dataset.test.tolist()]
    assert len({tuple(t) for part in parts for t in part}) == 100
    assert dataset.known_relations.all()


def test_what_is_held_out_follows_the_seed(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_text(dense_lines())
    one, same, other = (read_dataset(path, seed=seed).test.tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_one_file_too_sparse_to_hold_anything_out_is_refused(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_text("a\tr\tb\nb\tr\tc\n")
    with pytest.raises(SplitError, match="too sparse to hold triples out: its 2 triples leave 0"):
        read_dataset(path)


def test_options_hold_for_each_file_of_a_folder(folder):
    for path in folder.iterdir():
        rows = (line.split("\t") for line in path.read_text().splitlines())
        path.write_text("tail;,head,times,kind\n" + "".join(f"{t},{h},3,{r}\n" for h, r, t in rows))
    options = ReadOptions(format="csv", columns=("head", "kind", "tail;"))
    check(read_dataset(folder, options=options))
    weighted = read_dataset(folder, options=ReadOptions(format="csv", columns=(1, 3, 0), weight=2,
                                                        header=True))  # fmt: skip
    assert weighted.train.weights.tolist() == weighted.inference.weights.tolist() == [3, 3]


def test_an_option_that_says_nothing_of_one_of_the_files_is_refused_with_its_name(folder):
    (folder / "msg.txt").unlink()
    (folder / "msg.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .")
    with pytest.raises(TriplesError, match=r"msg\.nt: the option columns is for tsv"):
        read_dataset(folder, options=ReadOptions(columns=(0, 1, 2)))
