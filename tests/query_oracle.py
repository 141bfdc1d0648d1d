"""The query-conditioned model, slowly: one question at a time, dense matrices, Python loops.

Written from the equations that head ``ingram_q.py``; nothing is shared with the package. Weights
are {parameter's name: array}.
"""

from __future__ import annotations

import math

import numpy as np

from tests.oracle import affinity_matrices, bins, linear, with_reverses

EPSILON = 1e-5
"""LayerNorm's, as torch has it by default."""


def relation_edges(triples, num_entities, num_relations, num_bins):
    """(i, j, kind) of relations that share heads, kinds from 0, or tails, kinds from B."""
    facts = with_reverses(triples, num_relations)
    a_h, a_t, _ = affinity_matrices(facts, num_entities, 2 * num_relations)
    return [
        (i, j, side * num_bins + s - 1)
        for side, affinity in enumerate((a_h, a_t))
        for (i, j), s in bins(affinity, num_bins).items()
    ]


def updated(weights, name, state, messages):
    """state + ReLU(LayerNorm(Linear [state | messages]))."""
    x = linear(weights, f"{name}.linear", np.concatenate([state, messages]))
    x = (x - x.mean()) / math.sqrt(((x - x.mean()) ** 2).mean() + EPSILON)
    x = x * weights[f"{name}.norm.weight"] + weights[f"{name}.norm.bias"]
    return state + np.maximum(x, 0)


def relation_states(weights, config, edges, num_relations, asked):
    """u (2m, D): every relation as seen from the asked one."""
    u = np.zeros((2 * num_relations, config.width))
    u[asked] = weights["query"]
    degree = [sum(i == node for i, _, _ in edges) for node in range(2 * num_relations)]
    for layer in range(config.relation_layers):
        c = weights["bins"][layer]
        a = np.zeros_like(u)
        for i, j, kind in edges:
            a[i] += u[j] * c[kind] / math.sqrt(degree[i])
        name = f"relation_updates.{layer}"
        u = np.array([updated(weights, name, u[i], a[i]) for i in range(len(u))])
    return u


def answer(weights, config, triples, num_entities, num_relations, anchor, relation):
    """f (n,): every entity as the answer to (anchor, relation, ?), relation in [0, 2m)."""
    edges = relation_edges(triples, num_entities, num_relations, config.bins)
    u = relation_states(weights, config, edges, num_relations, relation)
    facts = with_reverses(triples, num_relations)
    degree = [sum(t == v for _, _, t in facts) for v in range(num_entities)]
    first = np.zeros((num_entities, config.width))
    first[anchor] = u[relation]
    h = first
    for layer in range(config.entity_layers):
        name = f"edge_weights.{layer}"
        w = [
            linear(weights, f"{name}.2", np.maximum(linear(weights, f"{name}.0", x), 0)) for x in u
        ]
        a, b = first.copy(), np.full_like(first, -np.inf)
        for x, k, v in facts:
            a[v] += h[x] * w[k] / math.sqrt(degree[v])
            b[v] = np.maximum(b[v], h[x] * w[k])
        b[np.isinf(b)] = 0  # no fact at all
        name = f"entity_updates.{layer}"
        arrived = np.concatenate([a, b], axis=1) if config.maxima else a
        h = np.array([updated(weights, name, h[v], arrived[v]) for v in range(num_entities)])
    hidden = [linear(weights, "score_hidden", np.concatenate([x, u[relation]])) for x in h]
    return np.array([linear(weights, "score_output", np.maximum(x, 0))[0] for x in hidden])
