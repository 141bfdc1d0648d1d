"""The graphs that are served, by name, and what is kept ready for each."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from ingram.answers import GraphScorer
from ingram.answers.asking import ASKED
from ingram.datasets.statistics import GraphStatistics, graph_statistics
from ingram.embeddings import Embeddings
from ingram.errors import ConfigError
from ingram.graph import Ids, KnowledgeGraph
from ingram.inference.applying import apply_model, draws_of
from ingram.inference.explaining import explain
from ingram.inference.explanation import Explanation
from ingram.inference.lookup import Lookup, entity_lookup
from ingram.inference.maps import EntityMap, RelationMap, entity_map, relation_map
from ingram.inference.similar import Neighbourhood
from ingram.io.formats import COMPRESSIONS, FORMATS, STDIN
from ingram.io.prefixes import meant, used_prefixes
from ingram.labels import Vocabulary
from ingram.models import load_model
from ingram.models.shipped import run_path
from ingram.serve.asking import Asked, Rows, Way, answer, score
from ingram.serve.batching import Batcher
from ingram.serve.limits import Limits
from ingram.serve.metrics import Metrics
from ingram.serve.refusals import Refusal

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""What a graph may be called: it stands in addresses."""

THREADS = ("answers", "reasons", "uploads", "views")

T = TypeVar("T")


@dataclass(eq=False)
class ServedGraph:
    """One graph with its model applied. What is slow to make is made when it is first asked for."""

    name: str
    model: str
    scorer: GraphScorer
    predict: Batcher[Asked, Rows]
    score: Batcher[Ids, list[float]]
    uploaded: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)
    _near: dict[str, Neighbourhood] = field(default_factory=dict)

    @property
    def graph(self) -> KnowledgeGraph:
        return self.scorer.graph

    @cached_property
    def statistics(self) -> GraphStatistics:
        return graph_statistics(self.graph)

    @cached_property
    def lookup(self) -> Lookup:
        return entity_lookup(self.graph)

    def near(self, what: Literal["entity", "relation"]) -> Neighbourhood:
        """What is similar, if the model gives vectors."""
        if not isinstance(self.scorer, Embeddings):
            raise Refusal(
                422, f"{self.model} has no vectors to compare; serve a run of the embedding model"
            )
        if what not in self._near:
            self._near[what] = Neighbourhood(self.scorer, what)
        return self._near[what]

    @cached_property
    def entity_map(self) -> EntityMap:
        return entity_map(self.scorer)

    @cached_property
    def relation_map(self) -> RelationMap:
        return relation_map(self.graph)

    def whole(self, label: str, vocabulary: Vocabulary) -> str:
        """The label that was meant: as it is, or the IRI that it is short for."""
        return meant(label, vocabulary, self.prefixes)


class Shelf:
    """All graphs by name, and the run whose model is applied to them.

    One thread answers, so that questions about a graph find company; others explain, take in new
    graphs and make what is looked at. None of them waits for another.
    """

    def __init__(
        self,
        run: str | Path,
        limits: Limits,
        metrics: Metrics,
        *,
        draws: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.limits, self.metrics = limits, metrics
        path = run_path(run)
        self._model = load_model(path)
        self._draws, self._seed = draws_of(path, self._model, draws, seed), seed
        self._apply = partial(apply_model, path, self._model, draws=self._draws, seed=self._seed)
        self._graphs: dict[str, ServedGraph] = {}
        self._coming: set[str] = set()
        self._pools = {what: ThreadPoolExecutor(1, f"ingram-{what}") for what in THREADS}

    def __iter__(self) -> Iterator[ServedGraph]:
        return iter(tuple(self._graphs.values()))

    def get(self, name: str | None) -> ServedGraph:
        """A graph by name; without one, the first."""
        if name is None and self._graphs:
            return next(iter(self._graphs.values()))
        if name not in self._graphs:
            held = ", ".join(self._graphs) or "none"
            raise Refusal(404, f"no graph {name!r} is served; there are {held}")
        return self._graphs[name]

    def prepared(
        self,
        name: str,
        graph: KnowledgeGraph,
        *,
        uploaded: bool = False,
        prefixes: Mapping[str, str] | None = None,
    ) -> ServedGraph:
        """A graph with the model applied, ready to be put among the others."""
        scorer = self._apply(graph)
        # The first question compiles what answers it: better now than while someone waits.
        answer(scorer, [Asked((0, 0, ASKED), Way(1, "mark", typed=False))])
        rules: dict[str, Any] = {
            "together": self.limits.together,
            "waiting": self.limits.waiting,
            "answered": self.metrics.together.observe,
        }
        return ServedGraph(
            name,
            self._model.name,
            scorer,
            Batcher(partial(answer, scorer), self._pools["answers"], **rules),
            Batcher(partial(score, scorer), self._pools["answers"], **rules),
            uploaded,
            used_prefixes((graph.entities.labels, graph.relations.labels), prefixes),
        )

    def put(self, served: ServedGraph) -> None:
        """Serve a graph from now on."""
        self._graphs[served.name] = served
        self.metrics.graphs.set(len(self._graphs))

    def remove(self, name: str) -> None:
        """Forget an uploaded graph. Questions about it that wait are still answered."""
        if not self.get(name).uploaded:
            raise Refusal(403, f"{name} was given when the service was started; it stays")
        del self._graphs[name]
        self.metrics.graphs.set(len(self._graphs))

    def want_room(self, name: str) -> None:
        """Refuse a graph whose name is taken, or one more than may be held."""
        if name in self._graphs or name in self._coming:
            raise Refusal(409, f"a graph {name!r} is there already; delete it or choose a name")
        held = sum(graph.uploaded for graph in self) + len(self._coming)
        if held >= self.limits.graphs:
            raise Refusal(409, f"{held} uploaded graphs are held, the limit `graphs`; delete one")

    async def take_in(self, name: str, make: Callable[[], ServedGraph]) -> ServedGraph:
        """Make a graph and serve it, unless whoever sent it has given up by then."""
        self.want_room(name)
        self._coming.add(name)
        try:
            served = await self._on("uploads", make)
            self.put(served)
        finally:
            self._coming.discard(name)
        return served

    async def view(self, work: Callable[[], T]) -> T:
        """Make something to look at."""
        return await self._on("views", work)

    async def explain(
        self, served: ServedGraph, triple: tuple[str, str, str], count: int
    ) -> Explanation:
        """Why a triple is predicted."""
        scorer = served.scorer
        return await self._on(
            "reasons",
            lambda: explain(
                self._model, scorer.graph, *triple,
                count=count, draws=self._draws or 1, seed=self._seed or 0, scorer=scorer,
            ),
        )  # fmt: skip

    async def _on(self, thread: str, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pools[thread], work)

    def close(self) -> None:
        """Finish what is being done; take on nothing new."""
        for pool in self._pools.values():
            pool.shutdown(cancel_futures=True)


def name_for(path: str | Path, taken: Iterable[str]) -> str:
    """What a graph given by its path is called: the file's name without the suffixes we know."""
    name = "stdin" if str(path) == STDIN else Path(path).name
    for suffix in (*COMPRESSIONS, *(s for suffixes in FORMATS.values() for s in suffixes)):
        name = name.removesuffix(suffix)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-")[:64] or "graph"
    if name in taken:
        raise ConfigError(f"{path}: another graph is called {name!r} already; rename the file")
    return name
