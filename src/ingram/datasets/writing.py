"""Datasets made here, as folders: the files of triples, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingram.graph import Dataset
from ingram.io.atomic import creating_folder
from ingram.io.tsv import write_tsv

RECIPE = "made.json"
"""Where a folder says how it was made."""

FOUR_FILES = """\
| file | what it is |
|---|---|
| train.txt | the training graph: everything a model may learn from |
| msg.txt | the observed facts of the inference graph, which the model is applied to |
| valid.txt | triples of the inference graph to choose a model by |
| test.txt | triples of the inference graph to test a model on |
"""

ONE_GRAPH = """\
| file | what it is |
|---|---|
| train.txt | the facts: everything a model may learn from, and is applied to |
| valid.txt | triples of the same graph to choose a model by |
| test.txt | triples of the same graph to test a model on |
"""


def write_dataset(
    dataset: Dataset, folder: str | Path, *, about: str, recipe: Mapping[str, Any]
) -> None:
    """Write train, valid and test, and msg if the dataset is inductive; whole or not at all.

    ``about`` goes into README.md, below a line on each file; ``recipe`` into made.json.
    """
    inference = dataset.inference
    tables = {
        "train": dataset.train.labelled(),
        "valid": inference.decode(dataset.valid),
        "test": inference.decode(dataset.test),
    }
    if dataset.inductive:
        tables["msg"] = inference.labelled()
    with creating_folder(Path(folder)) as unfinished:
        for name, table in tables.items():
            with (unfinished / f"{name}.txt").open("wb") as file:
                write_tsv(table, file)
        describe_folder(
            unfinished, dataset.name, about, recipe, FOUR_FILES if dataset.inductive else ONE_GRAPH
        )


def describe_folder(
    folder: Path, name: str, about: str, recipe: Mapping[str, Any], files: str = FOUR_FILES
) -> None:
    """README.md for people, made.json for programs."""
    text = (
        f"# {name}\n\n{about.strip()}\n\n{files}\nEach line of a file is `head<tab>relation<tab>"
        f"tail`; facts that have weights have a header and a fourth field. `{RECIPE}` holds the "
        "settings and sizes for programs.\n"
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    recipe_text = json.dumps(recipe, ensure_ascii=False, indent=2, allow_nan=False)
    (folder / RECIPE).write_text(recipe_text + "\n", encoding="utf-8")
