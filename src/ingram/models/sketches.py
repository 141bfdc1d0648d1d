"""Sketches: what stands around an entity, in a form that DistMult can read.

Attention adds up what neighbours are like; who they are, and how many, gets lost. So every entity
has random signs s_v and every relation random signs t_k, drawn anew like the features, and a vector
gets three further blocks. For facts (x, k, v) into v, each block times its own gate(z_k)::

    neighbours   own s_v + sum of s_x       / sqrt(deg v)     asked with 1
    roles        own     + sum of t_k       / sqrt(deg v)     asked with t_r
    links        own s_v + sum of s_x * t_k / sqrt(deg v)     asked with sum_k conf(k => r) t_k

and asked with the block's own query(z_r) besides. Signs of different entities and relations cancel,
equal ones add up. So DistMult counts, up to noise that shrinks with the width and the draws: in the
first block whether two entities are neighbours and which neighbours they share; in the second how
often an entity stands in the asked role; in the third whether the two are joined, in whichever
direction (DistMult takes both alike), by a relation k that the facts show to imply r.

Gates and queries have a number for each part of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ingram.graph import Ids
from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_messages import edge_messages
from ingram.models.config import SKETCH_BLOCKS
from ingram.models.layers import glorot_linear
from ingram.relation_graph import implied_relations


@dataclass(frozen=True, eq=False)
class Implications:
    """That k implies r. implied, implying: (E,) relations r and k in [0, 2m); confidence: (E,)."""

    implied: Tensor
    implying: Tensor
    confidence: Tensor

    @classmethod
    def of(cls, facts: Ids, num_entities: int, num_relations: int) -> Implications:
        """From facts (T, 3) without inverses."""
        found = implied_relations(facts, num_entities, num_relations)
        return cls(*map(torch.from_numpy, found))

    @classmethod
    def none(cls) -> Implications:
        nobody = torch.empty(0, dtype=torch.long)
        return cls(nobody, nobody, torch.empty(0))

    def to(self, device: torch.device) -> Implications:
        tensors = (self.implied, self.implying, self.confidence)
        return Implications(*(tensor.to(device) for tensor in tensors))

    def summed(self, codes: Tensor) -> Tensor:
        """(S, 2m, W): for each relation those of the relations that imply it."""
        weighed = codes[:, self.implying] * self.confidence.to(codes).unsqueeze(-1)
        return torch.zeros_like(codes).index_add(1, self.implied, weighed)


class Sketch(nn.Module):
    """Gates and queries of relations z (S, 2m, d'), and how much an entity shows of itself."""

    def __init__(self, relation_hidden: int, width: int, parts: int) -> None:
        super().__init__()
        self.each = width // parts
        self.gate = _weights(relation_hidden, parts)
        self.query = _weights(relation_hidden, parts)
        self.own = nn.Parameter(torch.ones(SKETCH_BLOCKS))

    def forward(
        self, signs: Tensor, codes: Tensor, z: Tensor, edges: Adjacency, *, loops: bool
    ) -> Iterator[Tensor]:
        """Block by block, (S, n, W), from signs of entities (S, n, W) and relations (S, 2m, W).

        With ``loops`` each entity has an edge to itself, which says nothing.
        """
        neighbours, roles, links = self._spread(self.gate(z))
        yield self._heard(signs, neighbours, self.own[0], edges, loops)
        yield self._heard(torch.ones_like(signs), roles * codes, self.own[1], edges, loops)
        yield self._heard(signs, links * codes, self.own[2], edges, loops)

    def _heard(
        self, sources: Tensor, gates: Tensor, own: Tensor, edges: Adjacency, loops: bool
    ) -> Tensor:
        if loops:
            gates = nn.functional.pad(gates, (0, 0, 0, 1))
        one = self.each**-0.5  # an entity's signs times themselves: 1 a part
        draws = torch.arange(len(sources), device=sources.device)
        scale = one * edges.degree_scale(sources, int(loops))
        heard = edge_messages(sources, gates, draws, scale, edges)
        return torch.addcmul(heard, sources, own, value=one)

    def asked(self, z: Tensor, codes: Tensor, implications: Implications) -> list[Tensor]:
        """The blocks, (S, 2m, W) each, of relations that are asked for."""
        neighbours, roles, links = self._spread(self.query(z))
        return [neighbours, roles * codes, links * implications.summed(codes)]

    def _spread(self, parts: Tensor) -> tuple[Tensor, ...]:
        return parts.repeat_interleave(self.each, dim=-1).chunk(SKETCH_BLOCKS, dim=-1)


def _weights(relation_hidden: int, parts: int) -> nn.Linear:
    """A number for each part of each block; of roles and links the same for all, to begin with.

    Then a role counts as often as an entity has it, and what is surely implied, ``parts``.
    """
    linear = glorot_linear(relation_hidden, SKETCH_BLOCKS * parts)
    if not linear.weight.is_meta:
        linear.weight.data[parts:] = 0
        linear.bias.data[parts : 2 * parts] = parts**-0.5  # times the other's: 1 in all
        linear.bias.data[2 * parts :] = 1
    return linear
