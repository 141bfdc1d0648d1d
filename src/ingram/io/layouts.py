"""Which file of a dataset folder is which, told by the files' names alone.

A benchmark is four tables: a training graph, the observed facts of the graph a model is applied to,
and the triples to predict there, for validation and for test. Every project names them differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ingram.errors import DatasetError
from ingram.io.formats import FORMATS, compression_of

PARTS = ("train", "facts", "valid", "test")
PAIR_SUFFIX = "_ind"
VALID = ("valid", "validation", "dev", "val")


@dataclass(frozen=True)
class Layout:
    """Which file holds which part. Without a second graph, ``facts`` is the file of ``train``.

    dictionaries: the files that name entities and relations where triples are numbers.
    unused: other files of the folder that look like data.
    """

    kind: str
    title: str
    name: str
    train: Path
    facts: Path
    valid: Path
    test: Path
    dictionaries: tuple[Path, Path] | None = None
    unused: tuple[Path, ...] = ()

    @property
    def inductive(self) -> bool:
        """Whether the graph of the facts is another one than the training graph."""
        return self.facts != self.train

    @property
    def parts(self) -> dict[str, Path]:
        """Part to file; ``facts`` is left out where it is the training file."""
        files = dict(zip(PARTS, (self.train, self.facts, self.valid, self.test), strict=True))
        return files if self.inductive else {k: v for k, v in files.items() if k != "facts"}


@dataclass(frozen=True)
class Form:
    """A way of naming files. roles: part to the stems its file may have, the first being usual."""

    kind: str
    title: str
    roles: Mapping[str, tuple[str, ...]]

    @property
    def wants(self) -> str:
        """The usual file names, for messages."""
        return ", ".join(stems[0] for stems in self.roles.values())


FOUR_FILE = Form(
    "four-file",
    "the four-file form",
    {"train": ("train",), "facts": ("msg",), "valid": VALID, "test": ("test",)},
)
PYKEEN = Form(
    "pykeen",
    "PyKEEN's inductive form",
    {
        "train": ("transductive_training", "transductive_train"),
        "facts": ("inductive_inference",),
        "valid": ("inductive_validation", "inductive_valid"),
        "test": ("inductive_testing", "inductive_test"),
    },
)
ILPC = Form(
    "ilpc",
    "ILPC's form",
    {
        "train": ("train",),
        "facts": ("inference",),
        "valid": ("inference_validation", "inference_valid"),
        "test": ("inference_test",),
    },
)
OPENKE = Form(
    "openke",
    "OpenKE's form",
    {
        "entities": ("entity2id",),
        "relations": ("relation2id",),
        "train": ("train2id",),
        "valid": ("valid2id",),
        "test": ("test2id",),
    },
)
PLAIN = Form(
    "plain",
    "plain train/valid/test",
    {"train": ("train",), "valid": VALID, "test": ("test",)},
)
GRAIL = Form("grail", "GraIL's pair of folders", PLAIN.roles)
FORMS = (FOUR_FILE, PYKEEN, ILPC, OPENKE, PLAIN)

Index = dict[str, list[Path]]


def recognise(folder: str | Path) -> Layout:
    """The layout of a folder. What fits no layout, or more than one, is an error."""
    folder = Path(folder)
    index = _index(folder)
    complete = [form for form in FORMS if _has(index, form)]
    fitting = [f for f in complete if not any(_used(index, f) < _used(index, g) for g in complete)]
    if fitting in ([PLAIN], []) and (pair := _pair(folder)):
        return _grail(*pair)
    if len(fitting) > 1:
        found = "; ".join(f"{f.title} ({f.wants})" for f in fitting)
        raise DatasetError(
            f"{folder}: the files fit {len(fitting)} layouts: {found}; move those of one away"
        )
    if not fitting or (fitting == [PLAIN] and _begun(index)):
        raise DatasetError(_unfit(folder, index))
    return _layout(folder, index, fitting[0])


def stem(path: Path) -> str | None:
    """The name without its suffixes, ``train`` of ``train.tsv.gz``; none if it is no data file."""
    plain = path.with_suffix("") if compression_of(path) else path
    known = any(plain.suffix.lower() in suffixes for suffixes in FORMATS.values())
    return plain.stem if known else None


def _index(folder: Path) -> Index:
    index: Index = {}
    try:
        for path in sorted(folder.iterdir()):
            name = stem(path)
            if name is not None and not name.startswith(".") and path.is_file():
                index.setdefault(name, []).append(path)
    except OSError as error:
        raise DatasetError(f"{folder}: cannot be read: {error.strerror or error}") from error
    return index


def _candidates(index: Index, stems: tuple[str, ...]) -> list[Path]:
    return [path for s in stems for path in index.get(s, [])]


def _has(index: Index, form: Form) -> bool:
    return all(_candidates(index, stems) for stems in form.roles.values())


def _used(index: Index, form: Form) -> set[Path]:
    return {path for stems in form.roles.values() for path in _candidates(index, stems)}


def _begun(index: Index) -> bool:
    """Whether a file belongs to a form of which others are missing, besides train, valid, test.

    Reading such a folder as plain train/valid/test would pass its inference facts over in silence.
    """
    plain = {s for stems in PLAIN.roles.values() for s in stems}
    names = {s for f in (FOUR_FILE, PYKEEN, ILPC) for stems in f.roles.values() for s in stems}
    names |= {s for part in ("train", "valid", "test") for s in OPENKE.roles[part]}
    return bool(index.keys() & (names - plain))


def _layout(folder: Path, index: Index, form: Form) -> Layout:
    files = {}
    for role, stems in form.roles.items():
        found = _candidates(index, stems)
        if len(found) > 1:
            names = " and ".join(p.name for p in found)
            raise DatasetError(f"{folder}: want one file for {stems[0]}, got {names}; keep one")
        files[role] = found[0]
    dictionaries = (files["entities"], files["relations"]) if form is OPENKE else None
    others = (path for paths in index.values() for path in paths)
    return Layout(
        form.kind,
        form.title,
        folder.resolve().name,
        files["train"],
        files.get("facts", files["train"]),
        files["valid"],
        files["test"],
        dictionaries,
        tuple(sorted(set(others) - set(files.values()))),
    )


def _pair(folder: Path) -> tuple[Path, Path] | None:
    """GraIL's two folders, NAME and NAME_ind, whichever of them was named."""
    folder = folder.resolve()
    if folder.name.endswith(PAIR_SUFFIX):
        first, second = folder.with_name(folder.name.removesuffix(PAIR_SUFFIX)), folder
    else:
        first, second = folder, folder.with_name(folder.name + PAIR_SUFFIX)
    if not (first.is_dir() and second.is_dir()):
        return None
    return (first, second) if all(_has(_index(f), GRAIL) for f in (first, second)) else None


def _grail(first: Path, second: Path) -> Layout:
    training = _layout(first, _index(first), PLAIN)
    inference = _layout(second, _index(second), PLAIN)
    return Layout(
        GRAIL.kind,
        f"{GRAIL.title} ({first.name} and {second.name})",
        first.name,
        training.train,
        inference.train,
        inference.valid,
        inference.test,
        unused=(training.valid, training.test, *training.unused, *inference.unused),
    )


def _unfit(folder: Path, index: Index) -> str:
    """What the folder holds, and what each layout that it could be would still need."""
    held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    begun = [form for form in FORMS if _used(index, form)] or list(FORMS)
    begun.sort(key=lambda form: len(_missing(index, form)))
    wants = "; ".join(
        f"{form.title} wants {form.wants} (lacks {', '.join(_missing(index, form)) or 'nothing'})"
        for form in begun
    )
    pairs = [p.name for p in sorted(folder.iterdir()) if p.is_dir() and _pair(p)]
    hint = f"; or name one of the folders inside: {', '.join(pairs[:8])}" if pairs else ""
    return f"{folder}: no layout fits; the folder holds {held}; {wants}{hint}"


def _missing(index: Index, form: Form) -> list[str]:
    return [stems[0] for stems in form.roles.values() if not _candidates(index, stems)]
