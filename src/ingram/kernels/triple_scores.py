"""DistMult scores of triples (Eq. 5), with a gradient that scatters in one pass.

score(h, r, t) = sum_c entities[h, c] * relations[r, c] * entities[t, c]
"""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.teams import fork
from ingram.kernels.vectors import get, lanes_of, load, put, store, total

CHANNELS = 16
"""A share of the gradients, at least: a line of the cache."""


def triple_scores(
    entities: Tensor, relations: Tensor, triples: Tensor, *, backend: str = "auto"
) -> Tensor:
    """(T,) scores of triples (T, 3), from entities (n, d) and relations (m, d)."""
    if backend == "auto":
        backend = "fused" if entities.device.type == "cpu" else "plain"
    if backend == "plain":
        heads, kinds, tails = triples.T
        return (entities[heads] * relations[kinds] * entities[tails]).sum(-1)
    return _fused(entities.contiguous(), relations.contiguous(), triples.contiguous())


@torch.library.custom_op("ingram::triple_scores", mutates_args=(), device_types="cpu")
def _fused(entities: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    scores = entities.new_empty(len(triples))
    arrays = parallel.arrays(entities, relations, triples, scores)
    lanes = lanes_of(entities.shape[1])
    parallel.run(_score, len(triples), lanes, *arrays, work=len(triples) // 20)
    return scores


@_fused.register_fake
def _(entities, relations, triples):
    return entities.new_empty(len(triples))


@torch.library.custom_op("ingram::triple_scores_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor, entities: Tensor, relations: Tensor, triples: Tensor
) -> tuple[Tensor, Tensor]:
    d_entities, d_relations = torch.zeros_like(entities), torch.zeros_like(relations)
    arrays = parallel.arrays(grad, entities, relations, triples, d_entities, d_relations)
    # Triples share entities, channels share nothing: a thread takes all triples, some channels, so
    # two of them read the triples twice.
    lanes = lanes_of(entities.shape[1], CHANNELS)
    parallel.run(_scatter, entities.shape[1] // len(lanes), lanes, *arrays, work=len(triples) // 40)
    return d_entities, d_relations


@_fused_backward.register_fake
def _(grad, entities, relations, triples):
    return torch.empty_like(entities), torch.empty_like(relations)


def _remember(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _differentiate(ctx, grad):
    return *_fused_backward(grad, *ctx.saved_tensors), None


_fused.register_autograd(_differentiate, setup_context=_remember)


@compiled_fast
def _score(where, *arguments):
    return fork(where, _score_range, arguments)


@inlined_fast
def _score_range(start, stop, lanes, entities, relations, triples, scores):
    width = entities.shape[1]
    for i in range(start, stop):
        h, r, t = get(triples, 3 * i), get(triples, 3 * i + 1), get(triples, 3 * i + 2)
        score = entities.dtype.type(0)
        for c in range(0, width, len(lanes)):
            head, tail = load(entities, h * width + c, lanes), load(entities, t * width + c, lanes)
            score += total(head * tail * load(relations, r * width + c, lanes))
        put(scores, i, score)


@compiled_fast
def _scatter(where, *arguments):
    return fork(where, _scatter_range, arguments)


@inlined_fast
def _scatter_range(start, stop, lanes, grad, entities, relations, triples, d_entities, d_relations):
    """Blocks start : stop of the channels."""
    width = entities.shape[1]
    for i in range(len(grad)):
        g = get(grad, i)
        if g == 0:  # a pair beyond the margin
            continue
        h, r, t = get(triples, 3 * i), get(triples, 3 * i + 1), get(triples, 3 * i + 2)
        for c in range(start * len(lanes), stop * len(lanes), len(lanes)):
            at_h, at_r, at_t = h * width + c, r * width + c, t * width + c
            head, kind = load(entities, at_h, lanes), load(relations, at_r, lanes) * g
            tail = load(entities, at_t, lanes)
            store(d_entities, at_h, load(d_entities, at_h, lanes) + kind * tail)
            store(d_entities, at_t, load(d_entities, at_t, lanes) + head * kind)
            store(d_relations, at_r, load(d_relations, at_r, lanes) + head * tail * g)
