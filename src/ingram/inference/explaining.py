"""Why a model predicts a triple: what carries the prediction, and what the graph itself says.

The query-conditioned model answers along paths from head to tail: the gradient of the score with
respect to a factor on each edge's messages proposes paths, and taking their messages away tells how
much the score rests on them. The embedding model is asked
where its last layers look. Both get the paths' patterns counted elsewhere in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.embeddings import Embeddings
from ingram.graph import KnowledgeGraph
from ingram.inference.attention import looks
from ingram.inference.explanation import Explanation, Path, step
from ingram.inference.paths import Floats, Walk, best_paths, without
from ingram.inference.patterns import Evidence, Patterns
from ingram.kernels.adjacency import Adjacency, entity_adjacency
from ingram.models import InGram, InGramQ
from ingram.models.ingram_q import Messages, QueryGraph, QueryScorer

EDGES = 2**16
"""Edges whose messages are held at once."""
PROPOSED = 20
"""Paths that are tried beyond those asked for."""
LOOKED_AT = 3
"""Steps of the paths whose patterns are counted for the embedding model."""


def explain(
    model: InGram | InGramQ,
    graph: KnowledgeGraph,
    head: str,
    relation: str,
    tail: str,
    *,
    count: int = 5,
    draws: int = 1,
    seed: int = 0,
    scorer: GraphScorer | None = None,
) -> Explanation:
    """Why (head, relation, tail) scores as it does; at most ``count`` of everything.

    ``draws`` and ``seed`` are of an embedding model's features. ``scorer``: the model as it was
    applied to the graph before, which saves doing so again.
    """
    h, r, t = graph.entities.id(head), graph.relations.id(relation), graph.entities.id(tail)
    more: dict[str, Any] = {}
    if isinstance(model, InGramQ):
        asked = scorer if isinstance(scorer, QueryScorer) else QueryScorer(model, graph)
        scores, walks = strongest_paths(model, asked.edges, h, r, t, count)
        asked.lower_loops(scores.unsqueeze(0), torch.tensor([h]), torch.tensor([r]))
        paths = [*_paths(graph, asked.edges.entities, walks, (h, r, t))]
    else:
        embeddings = (
            scorer if isinstance(scorer, Embeddings) else model.embed(graph, seed=seed, draws=draws)
        )
        scores = embeddings.candidate_scores(torch.tensor([h]), torch.tensor([r]), "tail")[0]
        paths = likely_paths(graph, (h, r, t), count)
        more = looks(model, graph, (h, r, t), count, draws, seed)
    known = graph.triples[(graph.triples[:, 0] == h) & (graph.triples[:, 1] == r), 2]
    open_ = scores > scores[t]
    open_[torch.from_numpy(known.copy())] = False
    return Explanation(
        model.name, head, relation, tail, float(scores[t]), 1 + int(open_.sum()), bool(t in known),
        tuple(paths), **more,
    )  # fmt: skip


def strongest_paths(
    model: InGramQ, graph: QueryGraph, head: int, relation: int, tail: int, count: int
) -> tuple[Tensor, list[Walk]]:
    """Scores of all tails (n,), and the paths without which the score of ``tail`` falls most.

    Gradients propose paths; the model is then asked again without the messages along each. The
    weight is the fall for each fact, so that a path does not win by its length. Gradients alone
    mislead where two ways lead to the tail: turning down either by a little changes nothing.
    """
    scores, gains = edge_importance(model, graph, head, relation, tail)
    longest = model.config.entity_layers
    proposed = best_paths(graph.entities, gains, head, tail, longest, PROPOSED + count)
    asked = torch.tensor([relation], device=model.query.device)
    anchor, row = torch.full_like(asked, head), torch.zeros_like(asked)
    m, walks = graph.relations.num_nodes // 2, []
    with torch.no_grad():
        seen = model.relation_states(graph, asked)
        for walk in proposed:
            left = QueryGraph(without(graph.entities, walk, m), graph.relations)
            fall = scores[tail] - model.entity_scores(left, seen, row, anchor)[0, tail]
            walks.append(replace(walk, weight=float(fall) / len(walk.edges)))
    walks = [walk for walk in walks if walk.weight > 0]
    return scores, sorted(walks, key=lambda walk: -walk.weight)[:count]


def edge_importance(
    model: InGramQ, graph: QueryGraph, head: int, relation: int, tail: int
) -> tuple[Tensor, Floats]:
    """Scores of all tails (n,), and each entity edge's part in the score of ``tail``, (E,).

    With a factor m_e on the messages of edge e in every layer, the part is df/dm_e at m_e = 1.
    Sums are linear in the factors, and a maximum in that of the edge that reaches it, so it is read
    off the gradients of both.
    """
    asked = torch.tensor([relation], device=model.query.device)
    anchor, row = torch.full_like(asked, head), torch.zeros_like(asked)
    with torch.no_grad():
        seen = model.relation_states(graph, asked)
    trace: list[Messages] = []
    with torch.enable_grad():
        scores = model.entity_scores(graph, seen, row, anchor, trace)[0]
        gradients = torch.autograd.grad(scores[tail], [layer.arrived for layer in trace])
    gains = scores.new_zeros(graph.entities.num_edges)
    with torch.no_grad():
        for layer, gradient in zip(trace, gradients, strict=True):
            _add_parts(gains, graph.entities, layer, gradient[0])
    return scores.detach(), gains.double().cpu().numpy()


def _add_parts(gains: Tensor, edges: Adjacency, layer: Messages, gradient: Tensor) -> None:
    """Add gradient . message; the message of edge (x, k, v) is h_x * w_k.

    It counts by 1 / sqrt(deg v) in the sum, and wholly where it is the maximum.
    """
    width = layer.states.shape[-1]
    of_sums, of_maxima = gradient.tensor_split([width], dim=-1)
    maxima = layer.arrived[0, :, width:]
    degrees = edges.pointers.diff()
    every = torch.arange(edges.num_nodes, device=degrees.device)
    node = every.repeat_interleave(degrees, output_size=edges.num_edges)
    scaled = of_sums * edges.degree_scale(gradient).unsqueeze(-1)
    for begin in range(0, edges.num_edges, EDGES):
        some = slice(begin, begin + EDGES)
        sources, kinds = edges.sources[some].long(), edges.kinds[some].long()
        messages = layer.states[0, sources] * layer.weights[0, kinds]
        gains[some] += (scaled[node[some]] * messages).sum(-1)
        if maxima.shape[-1]:
            largest = torch.where(messages == maxima[node[some]], messages, 0)
            gains[some] += (of_maxima[node[some]] * largest).sum(-1)


def likely_paths(graph: KnowledgeGraph, triple: tuple[int, int, int], count: int) -> list[Path]:
    """Short paths whose patterns most often come with the relation, whatever a model thinks.

    Paths that avoid entities named by many facts are looked at first.
    """
    edges = entity_adjacency(graph.triples, graph.num_entities, graph.num_relations)
    degrees = np.diff(edges.pointers.numpy())
    sources = edges.sources.numpy()
    gains = np.where(sources == triple[0], 0, -np.log(np.maximum(degrees[sources], 1)))
    walks = best_paths(edges, gains, triple[0], triple[2], LOOKED_AT, 10 * count)
    paths = [Path(p.steps, None, p.evidence) for p in _paths(graph, edges, walks, triple)]

    def doubted(path: Path) -> float:
        e = path.evidence
        return -1.0 if e is None else -e.holding / (e.joined + 2)

    return sorted(paths, key=doubted)[:count]


def _paths(
    graph: KnowledgeGraph, edges: Adjacency, walks: Iterable[Walk], triple: tuple[int, int, int]
) -> Iterator[Path]:
    h, r, t = triple
    patterns = Patterns(graph)
    counted: dict[tuple[int, ...], Evidence] = {}
    for walk in walks:
        kinds = tuple(edges.kinds[list(walk.edges)].tolist())
        if kinds != (r,) and kinds not in counted:
            counted[kinds] = patterns.evidence(kinds, r, (h, t))
        steps = [
            step(graph, *one) for one in zip(walk.nodes[:-1], kinds, walk.nodes[1:], strict=True)
        ]
        yield Path(tuple(steps), float(walk.weight), counted.get(kinds))
