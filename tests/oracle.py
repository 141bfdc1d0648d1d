"""The paper, slowly: dense matrices, Python loops, exact fractions and float64.

Written from the equations, and for what they leave open from the published system's behaviour
(biases, residual maps, ReLU at a layer's end). Nothing here is shared with the package: every edge
concatenates its vectors and multiplies by the whole matrix.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

SLOPE = 0.2


def with_reverses(triples, num_relations):
    """F with a reverse triple (v_j, r^-1, v_i) for each (v_i, r, v_j)."""
    triples = [tuple(int(x) for x in triple) for triple in triples]
    return triples + [(t, r + num_relations, h) for h, r, t in triples]


def affinity_matrices(triples, num_entities, num_relations):
    """Section 4 on triples that hold their reverses: A_h, A_t, A as lists of exact fractions."""

    def side(position):
        frequency = [[0] * num_relations for _ in range(num_entities)]  # E
        for triple in triples:
            frequency[triple[position]][triple[1]] += 1
        degree = [sum(row) for row in frequency]  # D
        return [
            [
                sum(
                    (
                        Fraction(frequency[v][i] * frequency[v][j], degree[v] ** 2)
                        for v in range(num_entities)
                        if degree[v]
                    ),
                    Fraction(0),
                )
                for j in range(num_relations)
            ]
            for i in range(num_relations)
        ]

    a_h, a_t = side(0), side(2)
    both = [[x + y for x, y in zip(p, q, strict=True)] for p, q in zip(a_h, a_t, strict=True)]
    return a_h, a_t, both


def bins(affinity, num_bins):
    """Eq. (3): {(i, j): s(i, j)}, 1-based as in the paper, for the non-zero a_ij.

    Tied affinities share the lowest rank.
    """
    nonzero = {(i, j): a for i, row in enumerate(affinity) for j, a in enumerate(row) if a != 0}
    rank = {pair: 1 + sum(b > a for b in nonzero.values()) for pair, a in nonzero.items()}
    return {pair: math.ceil(Fraction(r * num_bins, len(nonzero))) for pair, r in rank.items()}


def leaky(x):
    return np.where(x > 0, x, SLOPE * x)


def linear(weights, name, x):
    return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]


def shares(logits, aggregator):
    """What each message counts: softmax of its logit, an equal share, or one."""
    if aggregator == "mean":
        return [1 / len(logits)] * len(logits)
    if aggregator == "sum":
        return [1.0] * len(logits)
    top = max(logits)
    powers = [math.exp(x - top) for x in logits]
    return [p / sum(powers) for p in powers]


def aggregate(own, messages, y, aggregator):
    """ReLU(own + sum of alpha * value), heads side by side.

    messages: (inside, value, c) of each neighbour, where inside is P [...] before the activation
    and c the bin's weight for each head.
    """
    heads, width = y.shape
    out = own.copy()
    for h in range(heads):
        part = slice(h * width, (h + 1) * width)
        logits = [y[h] @ leaky(inside[part]) + c[h] for inside, _, c in messages]
        if logits:
            for alpha, (_, value, _) in zip(shares(logits, aggregator), messages, strict=True):
                out[part] += alpha * value[part]
    return np.maximum(out, 0)


def relation_layer(weights, name, z, neighbours, aggregator="attention"):
    """Eq. (1), (2). neighbours: {(i, j): s(i, j)}, or several s; weights: {parameter: array}."""
    y, c = weights[f"{name}.attention"][0], weights[f"{name}.bins"]
    rows = []
    for i in range(len(z)):
        messages = [
            (
                linear(weights, f"{name}.attend", np.concatenate([z[i], z[j]])),
                linear(weights, f"{name}.value", z[j]),
                c[s - 1],
            )
            for j in range(len(z))
            if (i, j) in neighbours
            for s in np.atleast_1d(neighbours[i, j])
        ]
        rows.append(aggregate(linear(weights, f"{name}.residual", z[i]), messages, y, aggregator))
    return np.array(rows)


def entity_layer(weights, name, h, z, triples, aggregator="attention"):
    """Eq. (4) on triples that hold their reverses; the self-loop takes the mean relation vector.

    With a parameter ``loop`` the self-loop takes that vector instead (table 4).
    """
    y = weights[f"{name}.attention"][0]
    none = np.zeros(len(y))
    incoming = defaultdict(list)
    for head, relation, tail in triples:
        incoming[tail].append((head, relation))
    rows = []
    for i in range(len(h)):
        mean = sum((z[k] for _, k in incoming[i]), np.zeros(z.shape[1]))
        mean = mean / max(len(incoming[i]), 1)
        loop = weights[f"{name}.loop"][0] if f"{name}.loop" in weights else mean
        messages = [
            (
                linear(weights, f"{name}.attend", np.concatenate([h[i], h[j], vector])),
                linear(weights, f"{name}.value", np.concatenate([h[j], vector])),
                none,
            )
            for j, vector in [(i, loop), *((j, z[k]) for j, k in incoming[i])]
        ]
        rows.append(aggregate(linear(weights, f"{name}.residual", h[i]), messages, y, aggregator))
    return np.array(rows)


def embed(weights, config, triples, num_entities, num_relations, x, x_hat):
    """Algorithm 1: final entity vectors h (n, d-hat) and relation vectors z (2m, d)."""
    facts = with_reverses(triples, num_relations)
    _, _, affinity = affinity_matrices(facts, num_entities, 2 * num_relations)
    neighbours = bins(affinity, config.bins)
    z = np.array([linear(weights, "relation_input", row) for row in x])
    for layer in range(config.relation_layers if config.relation_update else 0):
        z = relation_layer(weights, f"relation_layers.{layer}", z, neighbours, config.aggregator)
    h = np.array([linear(weights, "entity_input", row) for row in x_hat])
    layers = []
    for layer in range(config.entity_layers):
        h = entity_layer(weights, f"entity_layers.{layer}", h, z, facts, config.aggregator)
        layers.append(h)
    read = np.concatenate(layers if config.readout == "all" else layers[-1:], axis=1)
    return (
        np.array([linear(weights, "entity_output", row) for row in read]),
        np.array([linear(weights, "relation_output", row) for row in z]),
    )


def score(weights, h, z, triple):
    """Eq. (5): h_i^T diag(W-bar z_k) h_j."""
    i, k, j = triple
    return h[i] @ np.diag(linear(weights, "relation_score", z[k])) @ h[j]


def margin_loss(positive, negative, margin):
    """Section 5.3; the mean over the pairs, where the paper writes the sum."""
    pairs = [
        max(0.0, margin - positive[i] + negative[i][j])
        for i in range(len(positive))
        for j in range(len(negative[i]))
    ]
    return sum(pairs) / len(pairs)
