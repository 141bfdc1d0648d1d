"""Which file of a folder is which, and what becomes of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.errors import DatasetError, TriplesError
from ingram.io.folder import read_dataset
from ingram.io.formats import FORMATS
from ingram.io.layouts import FORMS, recognise, stem
from ingram.io.options import ReadOptions

TRAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")]
FACTS = [("x", "r", "y"), ("y", "q", "z"), ("z", "r", "x")]
VALID = [("y", "r", "x")]
TEST = [("z", "q", "y")]


def put(path: Path, triples) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(triple) + "\n" for triple in triples)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def labelled(graph, triples) -> list[tuple[str, ...]]:
    return list(graph.decode(triples).iter_rows())


INDUCTIVE = {
    "four-file": ("train.txt", "msg.txt", "valid.txt", "test.txt"),
    "pykeen": (
        "transductive_training.tsv",
        "inductive_inference.tsv",
        "inductive_validation.tsv",
        "inductive_testing.tsv",
    ),
    "ilpc": ("train.txt", "inference.txt", "inference_validation.txt", "inference_test.txt"),
}


@pytest.mark.parametrize("kind", INDUCTIVE)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_an_inductive_folder_gives_two_graphs_and_two_held_out_sets(tmp_path, kind, packed):
    for name, triples in zip(INDUCTIVE[kind], (TRAIN, FACTS, VALID, TEST), strict=True):
        put(tmp_path / "set" / (name + packed), triples)
    assert recognise(tmp_path / "set").kind == kind
    dataset = read_dataset(tmp_path / "set")
    assert dataset.name == "set"
    assert dataset.inductive
    assert labelled(dataset.train, dataset.train.triples) == TRAIN
    assert labelled(dataset.inference, dataset.inference.triples) == FACTS
    assert labelled(dataset.inference, dataset.valid) == VALID
    assert labelled(dataset.inference, dataset.test) == TEST


@pytest.mark.parametrize("named", ["fb_v1", "fb_v1_ind"])
def test_grails_pair_is_found_from_either_folder(tmp_path, named):
    for folder, facts in (("fb_v1", TRAIN), ("fb_v1_ind", FACTS)):
        put(tmp_path / folder / "train.txt", facts)
    put(tmp_path / "fb_v1" / "valid.txt", [("a", "s", "b")])
    put(tmp_path / "fb_v1" / "test.txt", [("b", "s", "c")])
    put(tmp_path / "fb_v1_ind" / "valid.txt", VALID)
    put(tmp_path / "fb_v1_ind" / "test.txt", TEST)
    layout = recognise(tmp_path / named)
    assert layout.kind == "grail"
    assert {path.name for path in layout.unused} == {"valid.txt", "test.txt"}
    assert {path.parent.name for path in layout.unused} == {"fb_v1"}
    dataset = read_dataset(tmp_path / named)
    assert (dataset.name, dataset.inductive) == ("fb_v1", True)
    assert labelled(dataset.train, dataset.train.triples) == TRAIN
    assert labelled(dataset.inference, dataset.inference.triples) == FACTS
    assert labelled(dataset.inference, dataset.test) == TEST


def test_a_msg_file_beats_a_neighbouring_ind_folder(tmp_path):
    for name, triples in zip(INDUCTIVE["four-file"], (TRAIN, FACTS, VALID, TEST), strict=True):
        put(tmp_path / "set" / name, triples)
        put(tmp_path / "set_ind" / name, triples)
    assert recognise(tmp_path / "set").kind == "four-file"


def test_plain_files_are_one_graph_whose_facts_are_train(tmp_path):
    put(tmp_path / "train.tsv", FACTS)
    put(tmp_path / "dev.tsv", VALID)
    put(tmp_path / "test.tsv", TEST)
    dataset = read_dataset(tmp_path)
    assert not dataset.inductive
    assert dataset.train is dataset.inference
    assert labelled(dataset.inference, dataset.inference.triples) == FACTS
    assert labelled(dataset.inference, dataset.valid) == VALID


def test_labels_that_only_plain_test_has_are_no_part_of_the_training_graph(tmp_path):
    put(tmp_path / "train.txt", FACTS)
    put(tmp_path / "valid.txt", VALID)
    put(tmp_path / "test.txt", [("z", "r", "stranger")])
    dataset = read_dataset(tmp_path)
    assert "stranger" in dataset.inference.entities
    assert "stranger" not in dataset.train.entities


def openke(folder: Path, **changes: str) -> Path:
    files = {
        "entity2id": "3\nanna smith\t0\nbert\t1\ncarl\t2\n",
        "relation2id": "2\nknows\t0\nhates\t1\n",
        "train2id": "3\n0 1 0\n1 2 1\n2\t0\t0\n",
        "valid2id": "1\n0 2 1\n",
        "test2id": "1\n2 1 0\n",
    }
    for name, text in (files | changes).items():
        (folder / f"{name}.txt").write_bytes(text.encode(errors="surrogateescape"))
    return folder


def test_openke_numbers_are_head_tail_relation_after_a_line_that_counts(tmp_path):
    dataset = read_dataset(openke(tmp_path))
    assert not dataset.inductive
    assert labelled(dataset.inference, dataset.inference.triples) == [
        ("anna smith", "knows", "bert"),
        ("bert", "hates", "carl"),
        ("carl", "knows", "anna smith"),
    ]
    assert labelled(dataset.inference, dataset.valid) == [("anna smith", "hates", "carl")]
    assert labelled(dataset.inference, dataset.test) == [("carl", "knows", "bert")]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("train2id", "4\n0 1 0\n1 2 1\n", r"train2id.txt: want 4 lines, as line 1 says, got 2"),
        ("train2id", "1\n0 1 7\n", r"train2id.txt:2: want a relation .* got number 7"),
        ("train2id", "1\n9 1 0\n", r"train2id.txt:2: want a head .* got number 9"),
        ("train2id", "2\n0 1 0\n0 x 0\n", r"train2id.txt:3: want the numbers .* '0 x 0'"),
        ("train2id", "1\n0 99999999999999999999 0\n", r"train2id.txt:2: want a tail"),
        ("train2id", "0 1 0\n", r"train2id.txt:1: want the number of lines"),
        ("train2id", "", r"train2id.txt"),
        ("train2id", "9" * 5000 + "\n", r"train2id.txt:1: want the number of lines"),
        ("train2id", "1\n0 1 0 \udcff\n", r"train2id.txt:2: want UTF-8, got byte 0xff"),
        ("entity2id", "2\nbert\t0\nbert\t1\n", r"entity2id.txt:3: want each label once"),
        ("entity2id", "2\nanna\t0\nbert\t0\n", r"entity2id.txt:3: want each id once"),
        ("entity2id", "1\nanna\n", r"entity2id.txt:2: want a label and its number"),
    ],
)
def test_a_bad_openke_file_is_named_with_its_line(tmp_path, file, text, message):
    with pytest.raises(TriplesError, match=message):
        read_dataset(openke(tmp_path, **{file: text}))


def test_openke_files_may_be_packed_and_are_bounded(tmp_path):
    folder = openke(tmp_path)
    plain = (folder / "train2id.txt").read_bytes()
    (folder / "train2id.txt").unlink()
    packed = folder / "train2id.txt.gz"
    packed.write_bytes(gzip.compress(plain))
    assert read_dataset(folder).train.num_triples == 3
    with pytest.raises(TriplesError, match=r"2id\.txt.*: unpacks to more than 9 bytes"):
        read_dataset(folder, options=ReadOptions(limit=9))
    packed.write_bytes(gzip.compress(plain)[:-4])
    with pytest.raises(TriplesError, match=r"train2id\.txt\.gz: want a gzip file, got a broken"):
        read_dataset(folder)


def test_openke_files_have_one_form_so_options_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="OpenKE's form is always read alike, got the option c"):
        read_dataset(openke(tmp_path), options=ReadOptions(columns=(0, 1, 2)))


@pytest.mark.parametrize("suffix", [s for each in FORMATS.values() for s in each])
@pytest.mark.parametrize("packed", ["", ".gz", ".zst", ".bz2"])
def test_files_are_found_by_their_stem(suffix, packed):
    assert stem(Path(f"folder/train{suffix}{packed}")) == "train"


@pytest.mark.parametrize("name", ["train", "train.md", ".txt", "train.gz", "README.md"])
def test_what_is_no_data_file_has_no_stem(name):
    assert stem(Path(name)) is None


def test_parts_may_be_of_different_kinds_of_file(tmp_path):
    for name in ("train.parquet", "msg.nt.gz", "valid.csv.zst", "test.tsv.bz2"):
        (tmp_path / name).touch()
    layout = recognise(tmp_path)
    assert [path.name for path in layout.parts.values()] == [
        "train.parquet",
        "msg.nt.gz",
        "valid.csv.zst",
        "test.tsv.bz2",
    ]


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).touch()
    return folder


def test_an_empty_folder_is_told_what_every_layout_wants(tmp_path):
    with pytest.raises(DatasetError, match="the folder holds nothing") as error:
        recognise(tmp_path)
    for form in FORMS:
        assert f"{form.title} wants {form.wants}" in str(error.value)


def test_a_missing_file_is_named_with_what_was_found(tmp_path):
    touch(tmp_path, "train.txt", "msg.txt", "test.txt")
    with pytest.raises(DatasetError, match=r"holds msg.txt, test.txt, train.txt") as error:
        recognise(tmp_path)
    assert "four-file form wants train, msg, valid, test (lacks valid)" in str(error.value)
    assert "\n" not in str(error.value)


def test_one_part_in_two_files_is_ambiguous(tmp_path):
    touch(tmp_path, "train.txt", "train.tsv.gz", "msg.txt", "valid.txt", "test.txt")
    with pytest.raises(DatasetError, match=r"want one file for train, got train.tsv.gz and train"):
        recognise(tmp_path)


def test_files_of_two_layouts_are_ambiguous(tmp_path):
    touch(tmp_path, *INDUCTIVE["four-file"], *INDUCTIVE["ilpc"])
    with pytest.raises(DatasetError, match=r"fit 2 layouts: the four-file form .* ILPC's form"):
        recognise(tmp_path)


def test_a_lone_inference_file_is_not_passed_over_in_silence(tmp_path):
    touch(tmp_path, "train.txt", "valid.txt", "test.txt", "inference.txt")
    with pytest.raises(DatasetError, match=r"lacks inference_validation, inference_test"):
        recognise(tmp_path)


def test_other_files_are_left_alone_and_listed(tmp_path):
    touch(tmp_path, "train.txt", "valid.txt", "test.txt", "entity2id.txt", "README.md", "notes.csv")
    layout = recognise(tmp_path)
    assert layout.kind == "plain"
    assert [path.name for path in layout.unused] == ["entity2id.txt", "notes.csv"]


def test_a_folder_of_pairs_says_which_folders_to_name(tmp_path):
    for folder in ("one", "one_ind"):
        (tmp_path / folder).mkdir()
        touch(tmp_path / folder, "train.txt", "valid.txt", "test.txt")
    with pytest.raises(DatasetError, match="name one of the folders inside: one, one_ind"):
        recognise(tmp_path)


def test_repeated_triples_are_counted_for_each_part(tmp_path):
    for name, triples in zip(INDUCTIVE["four-file"], (TRAIN, FACTS, VALID, TEST), strict=True):
        put(tmp_path / name, triples)
    put(tmp_path / "msg.txt", [*FACTS, FACTS[1], FACTS[1]])
    put(tmp_path / "test.txt", [*TEST, *TEST])
    repeats = {r.part: (r.count, r.examples) for r in read_dataset(tmp_path).repeats}
    assert repeats == {"facts": (2, (FACTS[1],)), "test": (1, (TEST[0],))}


def attempt(function, folder):
    """What a function returns, or the message of the error it may raise."""
    try:
        return function(folder), ""
    except (DatasetError, TriplesError) as error:
        return None, str(error)


STEMS = sorted({s for form in FORMS for stems in form.roles.values() for s in stems} | {"notes"})
NAMES = st.sampled_from([s + end for s in STEMS for end in (".txt", ".tsv.gz", "")])


@settings(max_examples=200, deadline=None)
@given(files=st.sets(NAMES, max_size=9), pair=st.booleans())
def test_any_folder_is_recognised_or_refused_in_one_line(tmp_path_factory, files, pair):
    folder = tmp_path_factory.mktemp("any") / "set"
    for one in (folder, folder.with_name("set_ind"))[: 1 + pair]:
        one.mkdir()
        touch(one, *files)
    layout, refusal = attempt(recognise, folder)
    assert "\n" not in refusal
    if layout:
        used = [*layout.parts.values(), *(layout.dictionaries or ())]
        assert len(set(used)) == len(used)
        assert all(path.is_file() for path in used)
        assert not set(used) & set(layout.unused)


LINES = st.lists(st.text("0123 \tax\r\n-", max_size=12), max_size=6).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(["entity2id", "train2id"]), text=LINES, noise=st.binary(max_size=3))
def test_any_openke_file_is_read_or_refused_in_one_line(tmp_path_factory, name, text, noise):
    folder = openke(tmp_path_factory.mktemp("any"))
    (folder / f"{name}.txt").write_bytes(text.encode() + noise)
    assert "\n" not in attempt(read_dataset, folder)[1]
