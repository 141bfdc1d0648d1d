"""Sketches: who the neighbours of an entity are, in a form that DistMult can read.

Every entity has random signs s_v, drawn anew like its features. Its sketch is

    own * s_v + sum over facts (x, k, v) of s_x * gate(z_k) / sqrt(deg v)

where gate(z_k) has a number for each part of the sketch. A question weighs the parts by query(z_r),
so the product of two sketches counts, by relation, whether one entity is the other's neighbour and
which neighbours they share, up to noise that shrinks with the width and the number of draws.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_messages import edge_messages
from ingram.models.layers import glorot_linear


class Sketch(nn.Module):
    """Gate and query of relations z (S, 2m, d'), and how much an entity shows of itself."""

    def __init__(self, relation_hidden: int, width: int, parts: int) -> None:
        super().__init__()
        self.each = width // parts
        self.gate = glorot_linear(relation_hidden, parts)
        self.query = glorot_linear(relation_hidden, parts)
        self.own = nn.Parameter(torch.ones(1))

    def forward(self, signs: Tensor, z: Tensor, edges: Adjacency, *, loops: bool) -> Tensor:
        """(S, n, width); with ``loops`` each entity has an edge to itself, which says nothing."""
        gates = self._spread(self.gate(z))
        if loops:
            gates = nn.functional.pad(gates, (0, 0, 0, 1))
        signs = signs * self.each**-0.5  # an entity's signs times themselves: 1 a part
        draws = torch.arange(len(signs), device=signs.device)
        scale = edges.degree_scale(signs, int(loops))
        heard = edge_messages(signs, gates, draws, scale, edges)
        return torch.addcmul(heard, signs, self.own)

    def asked(self, z: Tensor) -> Tensor:
        """(S, 2m, width): the weights of a question's parts."""
        return self._spread(self.query(z))

    def _spread(self, parts: Tensor) -> Tensor:
        return parts.repeat_interleave(self.each, dim=-1)
