"""What can be wrong with a dataset: leaks that falsify a result, and oddities worth a word.

A finding is an error if a figure measured on the dataset would claim what it does not show, and a
warning if it does no harm or harms only the figure itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingram.datasets.leaks import giveaways
from ingram.errors import ConfigError, DatasetError
from ingram.graph import Dataset, Ids, triple_keys

Severity = Literal["error", "warning"]
Example = tuple[str, ...]

EXAMPLES = 3
LEAKY_SHARE = 0.75
"""Of the test triples, the share that copying may answer before the figure means nothing else.

A choice: NELL-995-v1, a benchmark in use, lies below with 68 % (`ingram data check NELL-995-v1`).
"""

MEANINGS = {
    "shared-entities": "entities of the training graph stand in the inference graph too: a figure "
    "does not tell how well entities are handled that were never seen",
    "test-in-training": "test triples stand in the training graph: the model was taught the answer",
    "valid-in-training": "validation triples stand in the training graph: "
    "the weights are chosen by what they were taught",
    "test-among-facts": "test triples stand among the observed facts: the answer is in the input",
    "valid-among-facts": "validation triples stand among the observed facts: "
    "the weights are chosen by answers that are in the input",
    "valid-in-test": "the same triples are for validation and test: "
    "the weights are chosen by the test",
    "inverse-leak": "the facts hold the reverse of test triples, under the same relation or one "
    "that is consistently its inverse: turning a fact round answers them",
    "duplicate-relation-leak": "the facts hold test triples under another relation with nearly the "
    "same pairs: copying a fact answers them",
    "duplicates": "triples are stated more than once in a file; each is kept once",
    "unknown-entities": "entities of validation or test occur in no fact: nothing is known of "
    "them, so their queries are answered by chance",
    "unknown-relations": "relations of validation or test occur in no fact: nothing is known of "
    "them, so their queries are answered by chance",
}
KINDS = tuple(MEANINGS)


@dataclass(frozen=True)
class Finding:
    """Something found in a dataset.

    count: how many entities, relations or triples. examples: some of them as labels: ``(entity,)``,
    ``(relation,)``, a triple, or a triple and the fact that gives it away, six labels.
    """

    kind: str
    severity: Severity
    count: int
    examples: tuple[Example, ...]
    meaning: str


def check(dataset: Dataset) -> list[Finding]:
    """Everything found, errors first."""
    checks: tuple[Callable[[Dataset], Iterator[Finding]], ...] = (
        _shared_with_training,
        _among_facts,
        _leaks,
        _unknown,
        _repeats,
    )
    found = [finding for one in checks for finding in one(dataset)]
    return sorted(found, key=lambda f: (f.severity != "error", KINDS.index(f.kind)))


def fatal(findings: Collection[Finding], allow: Collection[str] = ()) -> list[Finding]:
    """The errors whose kind is not allowed."""
    if unknown := set(allow) - set(KINDS):
        raise ConfigError(f"no check {min(unknown)!r}; known are {', '.join(KINDS)}")
    return [f for f in findings if f.severity == "error" and f.kind not in allow]


def ensure_sound(dataset: Dataset, *, allow: Collection[str] = ()) -> list[Finding]:
    """Refuse a dataset on which a result would be false; the warnings and what was allowed.

    ``allow``: kinds of error to let pass, ``KINDS`` for all of them.
    """
    findings = check(dataset)
    if bad := fatal(findings, allow):
        worst = bad[0]
        shown = f", for example {' '.join(worst.examples[0])!r}" if worst.examples else ""
        more = f" (and {len(bad) - 1} more errors)" if len(bad) > 1 else ""
        raise DatasetError(
            f"{dataset.name}: {worst.kind}: {worst.count:,} found{shown}: {worst.meaning}{more}"
        )
    return findings


def _finding(
    kind: str, count: int, examples: Collection[Example], severity: Severity = "error"
) -> Finding:
    return Finding(kind, severity, count, tuple(examples)[:EXAMPLES], MEANINGS[kind])


def _labels(dataset: Dataset, triples: Ids) -> list[Example]:
    return list(dataset.inference.decode(triples[:EXAMPLES]).iter_rows())


def _keys(dataset: Dataset, triples: Ids) -> Ids:
    graph = dataset.inference
    return triple_keys(triples, graph.num_entities, graph.num_relations)


def _shared_with_training(dataset: Dataset) -> Iterator[Finding]:
    """Entities and held-out triples that the training graph of an inductive set holds."""
    if not dataset.inductive:
        return
    train, inference = dataset.train, dataset.inference
    entities = train.entities.ids(inference.entities.labels).fill_null(-1).to_numpy()
    if shared := int((entities >= 0).sum()):
        labels = inference.entities.take(np.flatnonzero(entities >= 0)[:EXAMPLES])
        yield _finding("shared-entities", shared, [(label,) for label in labels])
    relations = train.relations.ids(inference.relations.labels).fill_null(-1).to_numpy()
    size = (train.num_entities, train.num_relations)
    taught = triple_keys(train.triples, *size)
    for split in ("test", "valid"):
        triples = dataset.split(split)
        there = np.stack(
            [entities[triples[:, 0]], relations[triples[:, 1]], entities[triples[:, 2]]], axis=1
        )
        seen = (there >= 0).all(axis=1) & np.isin(triple_keys(there, *size), taught)
        yield from _held(dataset, f"{split}-in-training", triples, seen)


def _among_facts(dataset: Dataset) -> Iterator[Finding]:
    facts = _keys(dataset, dataset.inference.triples)
    valid, test = _keys(dataset, dataset.valid), _keys(dataset, dataset.test)
    yield from _held(dataset, "test-among-facts", dataset.test, np.isin(test, facts))
    yield from _held(dataset, "valid-among-facts", dataset.valid, np.isin(valid, facts))
    yield from _held(dataset, "valid-in-test", dataset.valid, np.isin(valid, test))


def _held(
    dataset: Dataset, kind: str, triples: Ids, which: npt.NDArray[np.bool_]
) -> Iterator[Finding]:
    if which.any():
        yield _finding(kind, int(which.sum()), _labels(dataset, triples[which]))


def _leaks(dataset: Dataset) -> Iterator[Finding]:
    facts, test = dataset.inference.triples, dataset.test
    for kind, reverse in (("inverse-leak", True), ("duplicate-relation-leak", False)):
        given = giveaways(
            facts,
            test,
            dataset.valid,
            dataset.inference.num_entities,
            dataset.inference.num_relations,
            reverse=reverse,
        )
        leaked = np.flatnonzero(given >= 0)
        if len(leaked):
            some = leaked[:EXAMPLES]
            pairs = zip(
                _labels(dataset, test[some]), _labels(dataset, facts[given[some]]), strict=True
            )
            share = len(leaked) / len(test)
            finding = _finding(
                kind,
                len(leaked),
                [(*a, *b) for a, b in pairs],
                "error" if share > LEAKY_SHARE else "warning",
            )
            yield replace(finding, meaning=f"{finding.meaning} ({share:.1%} of the test triples)")


def _unknown(dataset: Dataset) -> Iterator[Finding]:
    """Labels of the inference graph that only validation and test use."""
    graph = dataset.inference
    for kind, vocabulary, columns in (
        ("unknown-entities", graph.entities, (0, 2)),
        ("unknown-relations", graph.relations, (1,)),
    ):
        asked = np.zeros(len(vocabulary), dtype=bool)
        for column in columns:
            asked[dataset.valid[:, column]] = True
            asked[dataset.test[:, column]] = True
        for column in columns:
            asked[graph.triples[:, column]] = False
        if asked.any():
            labels = vocabulary.take(np.flatnonzero(asked)[:EXAMPLES])
            yield _finding(kind, int(asked.sum()), [(label,) for label in labels], "warning")


def _repeats(dataset: Dataset) -> Iterator[Finding]:
    if dataset.repeats:
        examples = [example for part in dataset.repeats for example in part.examples]
        count = sum(part.count for part in dataset.repeats)
        yield _finding("duplicates", count, examples, "warning")
