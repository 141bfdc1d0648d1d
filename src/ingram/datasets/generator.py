"""Algorithm 2 of appendix A: a training graph and a disjoint inference graph, cut from one graph.

The steps are the paper's, each a function; where it leaves something open, the docstring says what
was decided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ingram.datasets.generator_report import GeneratorReport
from ingram.datasets.presets import GeneratorConfig
from ingram.datasets.sizes import SizeRange, Sizes, worst
from ingram.datasets.subgraphs import (
    Mask,
    Neighbours,
    giant_component,
    induced,
    marked,
    two_hops,
)
from ingram.errors import GeneratorError, SplitError
from ingram.graph import Dataset, Ids, KnowledgeGraph
from ingram.splits import CoveringSplit, crowding, three_way_split

log = logging.getLogger(__name__)

FACTS_SHARE = 0.6
"""3:1:1."""


@dataclass(frozen=True, eq=False)
class Generated:
    """A dataset and how it came about."""

    dataset: Dataset
    report: GeneratorReport


@dataclass(frozen=True, eq=False)
class _Source:
    """The giant component of the graph to cut: triples (T, 3), the entities in it, neighbours."""

    graph: KnowledgeGraph
    triples: Ids
    entities: Ids
    neighbours: Neighbours

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> _Source:
        triples = giant_component(graph.triples, graph.num_entities)
        if not len(triples):
            raise GeneratorError("want a graph to cut, got one without triples")
        neighbours = Neighbours.of(triples, graph.num_entities)
        return cls(graph, triples, np.unique(triples[:, [0, 2]]), neighbours)


@dataclass(frozen=True, eq=False)
class _Cut:
    """E_tr and E_inf as triples of the source, and what stood in between."""

    train: Ids
    inference: Ids
    new: Mask
    known_candidates: int
    new_candidates: int
    mixed: int
    mixed_share: float

    @property
    def sizes(self) -> dict[str, Sizes]:
        return {"train": Sizes.of(self.train), "inference": Sizes.of(self.inference)}


def generate(
    graph: KnowledgeGraph,
    config: GeneratorConfig,
    *,
    seed: int = 0,
    seeds: int = 1,
    wanted: Iterable[SizeRange] = (),
    name: str = "generated",
    on_seed: Callable[[], None] = lambda: None,
) -> Generated:
    """Cut a dataset by Algorithm 2.

    Seeds ``seed``, ``seed + 1``, … are tried, ``seeds`` of them at most: the first whose sizes
    all lie in the ``wanted`` ranges, and whose inference graph can be split, is taken. If there is
    none, the error names the seed that came nearest, by the factor of its worst size. ``on_seed``
    is called as each has been tried.
    """
    source, wanted = _Source.of(graph), tuple(wanted)
    failures: list[tuple[float, str]] = []
    for attempt in range(seed, seed + seeds):
        rng = np.random.default_rng(attempt)
        try:
            cut = _cut(source, config, rng)
            missed = worst(wanted, cut.sizes)
            if missed is None:
                return _finish(source, config, cut, attempt, rng, name)
        except (GeneratorError, SplitError) as error:
            failures.append((np.inf, f"seed {attempt}: {error}"))
            on_seed()
            continue
        why = f"seed {attempt}: want {missed}, got {missed.size(cut.sizes):,}"
        on_seed()
        failures.append((missed.factor(cut.sizes), why))
    nearest = min(failures, key=lambda failure: failure[0])[1]
    if seeds == 1:
        raise GeneratorError(f"{nearest}; try other seeds or other sizes")
    raise GeneratorError(f"none of {seeds} seeds suits; the nearest is {nearest}")


def _cut(source: _Source, config: GeneratorConfig, rng: np.random.Generator) -> _Cut:
    """Steps 2 to 13."""
    count = source.graph.num_entities
    new = split_relations(np.unique(source.triples[:, 1]), source.graph.num_relations, config, rng)
    known = marked(np.unique(source.triples[:, 1]), source.graph.num_relations) & ~new

    near = _reached(
        source.entities, source.neighbours, config.n_train, config.max_neighbours, "training", rng
    )
    train = induced(source.triples, marked(near, count), known)
    train = giant_component(train, count)
    if not len(train):
        raise GeneratorError(
            f"no triple of the {int(known.sum())} training relations lies among the "
            f"{len(near):,} entities sampled for training; raise n_train or lower p_rel"
        )
    known = marked(np.unique(train[:, 1]), source.graph.num_relations)

    left = np.ones(count, dtype=bool)
    left[train[:, [0, 2]]] = False
    rest = induced(source.triples, left)
    near = _reached(
        source.entities[left[source.entities]],
        Neighbours.of(rest, count),
        config.n_inference,
        config.max_neighbours,
        "inference",
        rng,
    )
    inside = marked(near, count)
    old, fresh = induced(rest, inside, known), induced(rest, inside, new)
    mixture = mix(old, fresh, config.p_tri, rng)
    return _Cut(
        train,
        giant_component(mixture, count),
        new,
        len(old),
        len(fresh),
        len(mixture),
        float(new[mixture[:, 1]].mean()),
    )


def split_relations(
    relations: Ids, num_relations: int, config: GeneratorConfig, rng: np.random.Generator
) -> Mask:
    """Step 2. (m,) true for the relations set apart as new: round(p_rel |R|) of those given.

    Unless p_rel is 0, there is at least one of either kind.
    """
    if config.p_rel == 0:
        return np.zeros(num_relations, dtype=bool)
    if len(relations) < 2:
        raise GeneratorError(
            f"want at least 2 relations to set some apart, got {len(relations)} in the "
            "graph's giant component"
        )
    share = min(max(round(config.p_rel * len(relations)), 1), len(relations) - 1)
    return marked(rng.permutation(relations)[:share], num_relations)


def _reached(
    entities: Ids,
    neighbours: Neighbours,
    count: int,
    limit: int,
    what: str,
    rng: np.random.Generator,
) -> Ids:
    """Steps 3 and 9: entities sampled uniformly, and their two-hop neighbours by any relation."""
    if count > len(entities):
        raise GeneratorError(
            f"want {count:,} entities to sample for the {what} graph, got {len(entities):,}; "
            "lower n_train or n_inference"
        )
    return two_hops(neighbours, rng.choice(entities, count, replace=False), limit, rng)


def mix(old: Ids, fresh: Ids, p_tri: float, rng: np.random.Generator) -> Ids:
    """Step 10: as many triples as can be with |X| : |Y| = (1 - p_tri) : p_tri to within one triple.

    Of the kind that is too plentiful, a uniform sample stays.
    """
    limits = [len(old) / (1 - p_tri)] if p_tri < 1 else []
    limits += [len(fresh) / p_tri] if p_tri > 0 else []
    # The smallest addition keeps 3 / 0.3 from becoming 9.999…
    total = int(min(limits) + 1e-9)
    take_fresh = min(round(p_tri * total), len(fresh))
    take_old = min(total - take_fresh, len(old))
    if total == 0:
        raise GeneratorError(
            f"p_tri {p_tri} wants known and new relations in the inference graph, got "
            f"{len(old):,} and {len(fresh):,} triples of them; raise n_inference"
        )
    kept = [
        part[np.sort(rng.choice(len(part), take, replace=False))]
        for part, take in ((old, take_old), (fresh, take_fresh))
    ]
    return np.concatenate(kept)


def _finish(
    source: _Source,
    config: GeneratorConfig,
    cut: _Cut,
    seed: int,
    rng: np.random.Generator,
    name: str,
) -> Generated:
    """The 3:1:1 split, and ids as if the four files had been read back."""
    graph = source.graph
    whole = KnowledgeGraph.from_labels(graph.with_triples(cut.inference).labelled())
    facts, valid, test = three_way_split(whole, int(rng.integers(2**63)), FACTS_SHARE)
    held_out = [whole.decode(part) for part in (valid, test)]
    inference = KnowledgeGraph.from_labels(facts.labelled(), *held_out)
    dataset = Dataset(
        name,
        KnowledgeGraph.from_labels(graph.with_triples(cut.train).labelled()),
        inference,
        inference.encode(held_out[0]),
        inference.encode(held_out[1]),
    )
    fresh = cut.new[cut.inference[:, 1]]
    report = GeneratorReport(
        config=config,
        seed=seed,
        source=Sizes.of(graph.triples),
        giant=Sizes.of(source.triples),
        train=cut.sizes["train"],
        inference=cut.sizes["inference"],
        facts=facts.num_triples,
        valid=len(valid),
        test=len(test),
        new_relations=len(np.unique(cut.inference[fresh, 1])),
        known_candidates=cut.known_candidates,
        new_candidates=cut.new_candidates,
        mixed=cut.mixed,
        asked_share=config.p_tri,
        mixed_share=cut.mixed_share,
        final_share=float(fresh.mean()),
        notes=_notes(dataset, len(cut.inference)),
    )
    return Generated(dataset, report)


def _notes(dataset: Dataset, triples: int) -> tuple[str, ...]:
    """What falls short; each has been logged as a warning too."""
    notes = [crowding(dataset.inference.num_triples, triples, FACTS_SHARE)]
    if CoveringSplit(dataset.train).draw(np.random.default_rng(0)).all():
        notes.append("the training graph is too sparse to train on: nothing is left to predict")
        log.warning("%s", notes[-1])
    return tuple(note for note in notes if note)
