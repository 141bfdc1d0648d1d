"""DistMult scores of triples (Eq. 5), with a gradient that scatters in one pass.

score(h, r, t) = sum_c entities[h, c] * relations[r, c] * entities[t, c]
"""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled_fast


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
    parallel.run(
        lambda start, stop: _score(start, stop, *arrays), len(triples), work=len(triples) // 10
    )
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
    width = entities.shape[1]
    parallel.run(
        lambda start, stop: _scatter(8 * start, min(8 * stop, width), *arrays),
        -(-width // 8),
        work=len(triples) // 20,
    )
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
def _score(start, stop, entities, relations, triples, scores):
    for i in range(start, stop):
        head, kind = entities[triples[i, 0]], relations[triples[i, 1]]
        tail = entities[triples[i, 2]]
        total = entities.dtype.type(0)
        for c in range(entities.shape[1]):
            total += head[c] * kind[c] * tail[c]
        scores[i] = total


@compiled_fast
def _scatter(start, stop, grad, entities, relations, triples, d_entities, d_relations):
    for i in range(len(grad)):
        g, h, r, t = grad[i], triples[i, 0], triples[i, 1], triples[i, 2]
        if g == 0:  # a pair beyond the margin
            continue
        head, kind, tail = (
            entities[h, start:stop], relations[r, start:stop], entities[t, start:stop]
        )  # fmt: skip
        d_head, d_kind, d_tail = (
            d_entities[h, start:stop], d_relations[r, start:stop], d_entities[t, start:stop]
        )  # fmt: skip
        for c in range(len(head)):
            d_head[c] += g * kind[c] * tail[c]
        for c in range(len(head)):
            d_tail[c] += g * head[c] * kind[c]
        for c in range(len(head)):
            d_kind[c] += g * head[c] * tail[c]
