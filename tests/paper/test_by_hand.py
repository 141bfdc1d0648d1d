"""Each equation on one graph of a dozen triples, against numbers worked with pencil and paper.

The graph has entities a..f and relations p, q, s::

    a p b    a q b    e s f
    a p c    b q c    a s e
    b p d    d q a    f s b
    c p d    b q a    c s d
"""

from fractions import Fraction as F
from math import log

import numpy as np
import pytest
import torch

from ingram.graph import KnowledgeGraph, with_inverses
from ingram.kernels.adjacency import entity_adjacency, relation_adjacency
from ingram.kernels.triple_scores import triple_scores
from ingram.models import ModelConfig
from ingram.models.layers import EntityLayer, RelationLayer
from ingram.relation_graph import build_relation_graph
from ingram.training.objectives import margin_loss

TRIPLES = """
a p b   a q b   e s f
a p c   b q c   a s e
b p d   d q a   f s b
c p d   b q a   c s d
"""

BINS = 4

# How often an entity is head (E_h) or tail (E_t) of a relation, reverses not yet added:
#
#        E_h        E_t       degree with reverses
#        p q s      p q s
#    a   2 1 1      0 2 0     6
#    b   1 2 0      1 1 1     6
#    c   1 0 1      1 1 0     4
#    d   0 1 0      2 0 1     4
#    e   0 0 1      0 0 1     2
#    f   0 0 1      0 0 1     2
#
# With the reverses, E_h becomes [E_h | E_t] and E_t becomes [E_t | E_h]; both degrees become the
# sum of the two. So A has two blocks: for a relation r and a relation u, both original or both
# reversed,
#
#    X[r, u] = sum over v of (E_h[v, r] E_h[v, u] + E_t[v, r] E_t[v, u]) / degree(v)^2
#
# and for an original and a reversed one
#
#    Y[r, u] = sum over v of (E_h[v, r] E_t[v, u] + E_t[v, r] E_h[v, u]) / degree(v)^2.
#
# degree^2 is 36 for a and b, 16 for c and d, 4 for e and f. For example
#
#    X[p, q] = (2*1 + 0*2)/36 + (1*2 + 1*1)/36 + (1*0 + 1*1)/16 + 0 = 5/36 + 1/16 = 29/144
X = {
    ("p", "p"): F(4 + 0 + 1 + 1, 36) + F(1 + 1 + 0 + 4, 16),  # 78/144
    ("q", "q"): F(1 + 4 + 4 + 1, 36) + F(0 + 1 + 1 + 0, 16),  # 58/144
    ("s", "s"): F(1 + 0 + 0 + 1, 36) + F(1 + 0 + 0 + 1, 16) + F(2, 4) + F(2, 4),  # 170/144
    ("p", "q"): F(29, 144),
    ("p", "s"): F(2 + 0 + 0 + 1, 36) + F(1 + 0 + 0 + 2, 16),  # 39/144
    ("q", "s"): F(1 + 0 + 0 + 1, 36),  # 8/144
}
Y = {
    ("p", "p"): F(0 + 2, 36) + F(2 + 0, 16),  # 26/144
    ("q", "q"): F(4 + 4, 36),  # 32/144
    ("s", "s"): F(2, 4) + F(2, 4),  # 144/144
    ("p", "q"): F(4 + 0 + 1 + 2, 36) + F(1 + 0 + 0 + 2, 16),  # 55/144
    ("p", "s"): F(0 + 0 + 1 + 0, 36) + F(0 + 1 + 0 + 0, 16),  # 13/144
    ("q", "s"): F(0 + 2 + 2 + 0, 36) + F(0 + 1 + 1 + 0, 16),  # 34/144
}

# All 36 entries are non-zero: X[r, r] and Y[r, r] stand twice in A, the others four times. In
# descending order, in 144ths, with the rank that tied entries share and, for B = 4, the bin
# ceil(rank * 4 / 36) = ceil(rank / 9):
BIN_OF_144THS = {
    170: 1,  # X ss, rank 1
    144: 1,  # Y ss, rank 3
    78: 1,  # X pp, rank 5
    58: 1,  # X qq, rank 7
    55: 1,  # Y pq, rank 9
    39: 2,  # X ps, rank 13
    34: 2,  # Y qs, rank 17
    32: 3,  # Y qq, rank 21
    29: 3,  # X pq, rank 23
    26: 3,  # Y pp, rank 27
    13: 4,  # Y ps, rank 29
    8: 4,  # X qs, rank 33
}


@pytest.fixture
def graph():
    words = TRIPLES.split()
    return KnowledgeGraph.from_labels([tuple(words[i : i + 3]) for i in range(0, len(words), 3)])


@pytest.fixture
def relations(graph):
    """Ids of p, q, s and of their reverses, p', q', s'."""
    ids = {label: graph.relations.id(label) for label in "pqs"}
    return ids | {f"{label}'": i + graph.num_relations for label, i in ids.items()}


def affinity(one, other):
    block = X if ("'" in one) == ("'" in other) else Y
    pair = one[0], other[0]
    return block[pair] if pair in block else block[pair[::-1]]


def test_affinities(graph, relations):
    found = build_relation_graph(graph, BINS)
    table = np.zeros((6, 6))
    table[found.rows, found.cols] = found.weights
    for one, i in relations.items():
        for other, j in relations.items():
            assert table[i, j] == pytest.approx(float(affinity(one, other)), rel=1e-14)
    assert len(found.weights) == 36


def test_bins(graph, relations):
    found = build_relation_graph(graph, BINS)
    table = np.zeros((6, 6))
    table[found.rows, found.cols] = found.bins + 1
    for one, i in relations.items():
        for other, j in relations.items():
            assert table[i, j] == BIN_OF_144THS[int(144 * affinity(one, other))]


def small(**changes):
    sizes = {"relation_hidden": 2, "entity_hidden": 2, "relation_heads": 1, "entity_heads": 1}
    return ModelConfig(**sizes, **changes)


def assign(parameter, values):
    with torch.no_grad():
        parameter.copy_(torch.tensor(values, dtype=torch.float64))


def test_relation_layer(graph, relations):
    """Eq. (1), (2): a relation's vector is (ln w, v); w weighs, v is passed on.

    y sigma(P [z_i | z_j]) = LeakyReLU(ln w_j), so a neighbour counts w_j, or w_j^(1/5) if w_j < 1,
    times exp(c) of its bin: 4, 3, 2, 1. With w_s = 1/32 relation s counts 1/2::

             p   q   s     p'  q'  s'
        w    1   2   1/2   1   1   2
        v    1   2   4     0  -1   3
    """
    layer = RelationLayer(small(bins=BINS)).double()
    assign(layer.attend.weight, [[0, 0, 1, 0], [0, 0, 0, 0]])
    assign(layer.attend.bias, [0, 0])
    assign(layer.attention, [[[1, 0]]])
    assign(layer.bins, [[log(4)], [log(3)], [log(2)], [0]])
    assign(layer.value.weight, [[0, 0], [0, 1]])
    assign(layer.value.bias, [0, 1])
    assign(layer.residual.weight, [[0, 0], [0, -1]])
    assign(layer.residual.bias, [0, 0])

    vectors = {
        "p": (1, 1),
        "q": (2, 2),
        "s": (1 / 32, 4),
        "p'": (1, 0),
        "q'": (1, -1),
        "s'": (2, 3),
    }
    z = torch.zeros(1, 6, 2, dtype=torch.float64)
    for label, (w, v) in vectors.items():
        z[0, relations[label]] = torch.tensor([log(w), v], dtype=torch.float64)
    out = layer(z, relation_adjacency(build_relation_graph(graph, BINS)))[0]

    # Relation p meets p, q, s, p', q', s' in bins 1, 3, 2, 3, 1, 4, which count 4, 2, 3, 2, 4, 1;
    # times w that is 4, 4, 3/2, 2, 4, 2, together 35/2. The weighted v: 4 + 8 + 6 + 0 - 4 + 6 = 20.
    # So the sum is 40/35, plus the bias 1, plus the residual -1. The other rows likewise.
    wanted = {
        "p": F(20) / F(35, 2) + 1 - 1,  # 4, 4, 3/2, 2, 4, 2
        "q": F(36) / F(45, 2) + 1 - 2,  # 2, 8, 1/2, 4, 2, 6: 2 + 16 + 2 + 0 - 2 + 18 = 36
        "s": F(0),  # 3, 2, 2, 1, 3, 8: 36/19 + 1 - 4 is negative, ReLU makes it 0
        "p'": F(36) / F(45, 2) + 1 - 0,  # 2, 8, 1/2, 4, 2, 6
        "q'": F(20) / F(35, 2) + 1 + 1,  # 4, 4, 3/2, 2, 4, 2
        "s'": F(44) / F(21) + 1 - 3,  # 1, 6, 2, 3, 1, 8: 1 + 12 + 8 + 0 - 1 + 24 = 44
    }
    for label, value in wanted.items():
        assert out[relations[label]].tolist() == pytest.approx([0, float(value)], abs=1e-12), label


def test_entity_layer(graph, relations):
    """Eq. (4): an entity's vector is (ln u, g), a relation's (ln w, v).

    y sigma(P [h_i | h_j | z_k]) = LeakyReLU(ln(u_j w_k)), so an edge counts u_j w_k, or the fifth
    root of it below 1. A message is g_j + 2 v_k + 1 and the residual -g_i::

             a   b   c      d   e       f          p    q    s   p'  q'  s'
        u    1   3   1/32   1   1/192   2     w    2    4    4   2   1   9
        g    1   4   -3     0   5       2     v    1/2  -1   1   3   0   2
    """
    layer = EntityLayer(small()).double()
    assign(layer.attend.weight, [[0, 0, 1, 0, 1, 0], [0] * 6])
    assign(layer.attend.bias, [0, 0])
    assign(layer.attention, [[[1, 0]]])
    assign(layer.value.weight, [[0] * 4, [0, 1, 0, 2]])
    assign(layer.value.bias, [0, 1])
    assign(layer.residual.weight, [[0, 0], [0, -1]])
    assign(layer.residual.bias, [0, 0])

    u_g = {"a": (1, 1), "b": (3, 4), "c": (1 / 32, -3), "d": (1, 0), "e": (1 / 192, 5), "f": (2, 2)}
    w_v = {"p": (2, 1 / 2), "q": (4, -1), "s": (4, 1), "p'": (2, 3), "q'": (1, 0), "s'": (9, 2)}
    h = torch.zeros(1, 6, 2, dtype=torch.float64)
    for label, (u, g) in u_g.items():
        h[0, graph.entities.id(label)] = torch.tensor([log(u), g], dtype=torch.float64)
    z = torch.zeros(1, 6, 2, dtype=torch.float64)
    for label, (w, v) in w_v.items():
        z[0, relations[label]] = torch.tensor([log(w), v], dtype=torch.float64)
    out = layer(h, z, entity_adjacency(graph.triples, 6, 3))[0]

    # e hears (a, s, e) and (f, s', e), the reverse of (e, s, f). The mean relation vector of its
    # self-loop is (ln(4 * 9) / 2, 3/2) = (ln 6, 3/2). Counts: 1 * 4, 2 * 9 and, for the self-loop,
    # (6 / 192)^(1/5) = 1/2; together 45/2. Messages: 1 + 2 + 1, 2 + 4 + 1, 5 + 3 + 1.
    e = (4 * 4 + 18 * 7 + F(1, 2) * 9) / F(45, 2) - 5
    # b hears a three times, by p, q and q' (the reverse of (b, q, a)): parallel edges count one by
    # one. Then (f, s, b), (d, p', b), (c, q', b). The mean of p, q, q', s, p', q' is
    # (ln(2 * 4 * 1 * 4 * 2 * 1) / 6, (1/2 - 1 + 0 + 1 + 3 + 0) / 6) = (ln 2, 7/12).
    # Counts: a 2, 4, 1; f 8; d 2; c (1/32)^(1/5) = 1/2; itself 3 * 2; together 47/2.
    # Messages: 3, 0, 2; 5; 7; -3 + 0 + 1 = -2; 4 + 7/6 + 1 = 37/6.
    b = (2 * 3 + 4 * 0 + 1 * 2 + 8 * 5 + 2 * 7 + F(1, 2) * -2 + 6 * F(37, 6)) / F(47, 2) - 4
    assert e == F(68, 45)
    assert b == F(8, 47)
    for label, value in (("e", e), ("b", b)):
        found = out[graph.entities.id(label)].tolist()
        assert found == pytest.approx([0, float(value)], abs=1e-12), label


def test_score():
    """Eq. (5): f(a, r, b) = 1*2*3 + 2*5*(-1) = -4, and both ways round alike."""
    entities = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    relations = torch.tensor([[2.0, 5.0], [1.0, 1.0]])
    triples = torch.tensor([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert triple_scores(entities, relations, triples).tolist() == [-4, -4, 5]


def test_margin_loss():
    # margin 2; true 3 and 1; false (2, 0) and (3/2, -2):
    # max(0, 2-3+2) = 1, max(0, 2-3+0) = 0, max(0, 2-1+3/2) = 5/2, max(0, 2-1-2) = 0; mean 7/8.
    positive, negative = torch.tensor([3.0, 1.0]), torch.tensor([[2.0, 0.0], [1.5, -2.0]])
    assert margin_loss(positive, negative, 2.0).item() == 7 / 8


def test_reverse_triples(graph, relations):
    facts = with_inverses(graph.triples, 3)
    assert len(facts) == 24
    a, b = graph.entities.id("a"), graph.entities.id("b")
    assert [b, relations["p'"], a] in facts.tolist()
    assert [b, relations["p"], a] not in facts.tolist()
