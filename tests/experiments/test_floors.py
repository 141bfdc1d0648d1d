"""What is reached without learning: popularity, and rules against a slow, obvious count."""

from collections import defaultdict

import numpy as np
import torch
from hypothesis import given

from ingram.experiments.popularity import Popularity
from ingram.experiments.rules import Rules
from ingram.graph import with_inverses
from ingram.relation_graph import DOUBT, LEAST_SUPPORT
from tests.strategies import graph_of, graphs


def asked(scorer, anchor, relation, side):
    scores = scorer.candidate_scores(torch.tensor([anchor]), torch.tensor([relation]), side)
    return scores[0].tolist()


def test_popularity_counts_the_role_in_the_relation_and_nothing_else():
    scorer = Popularity(graph_of([(0, 0, 3), (1, 0, 3), (2, 0, 1), (3, 1, 2)], 4, 2))
    assert asked(scorer, 0, 0, "tail") == [0, 1, 0, 2]
    assert asked(scorer, 2, 0, "tail") == [0, 1, 0, 2]
    assert asked(scorer, 3, 0, "head") == [1, 1, 1, 0]
    assert scorer.score(np.array([[0, 0, 3], [3, 1, 2], [3, 0, 0]])).tolist() == [3, 2, 0]


def slow_rules(graph):
    """(relation, first, second) to confidence, by sets and loops."""
    kinds = 2 * graph.num_relations
    pairs, steps = [set() for _ in range(kinds)], [defaultdict(set) for _ in range(kinds)]
    for head, kind, tail in with_inverses(graph.triples, graph.num_relations).tolist():
        pairs[kind].add((head, tail))
        steps[kind][head].add(tail)
    bodies = {(first, -1): pairs[first] for first in range(kinds)}
    for first in range(kinds):
        for second in range(kinds):
            bodies[first, second] = {
                (x, y) for x, v in pairs[first] for y in steps[second].get(v, ())
            }
    found = {}
    for relation in range(kinds):
        for (first, second), body in bodies.items():
            support = len(body & pairs[relation])
            if support >= LEAST_SUPPORT and (first, second) != (relation, -1):
                found[relation, first, second] = support / (len(body) + DOUBT)
    return found, bodies, pairs


@given(graphs(max_entities=6, max_relations=3, min_triples=1, max_triples=20))
def test_rules_and_scores_are_those_of_a_slow_count(graph):
    found, bodies, pairs = slow_rules(graph)
    scorer = Rules(graph)
    relations, first, second, confidence = (column.tolist() for column in scorer.rules)
    mined = dict(zip(zip(relations, first, second, strict=True), confidence, strict=True))
    assert mined == found

    for side, shift in (("tail", 0), ("head", graph.num_relations)):
        for relation in range(graph.num_relations):
            kind = relation + shift
            for x in range(graph.num_entities):
                doubts = np.ones(graph.num_entities)
                for y in range(graph.num_entities):
                    stated = sum(tail == y for _, tail in pairs[kind])
                    doubts[y] *= 1 - stated / (len(pairs[kind]) + DOUBT)
                    for (r, *body), sure in found.items():
                        if r == kind and (x, y) in bodies[tuple(body)]:
                            doubts[y] *= 1 - sure
                got = asked(scorer, x, relation, side)
                np.testing.assert_allclose(got, -np.log(doubts), rtol=1e-5, atol=1e-6)


def test_a_symmetric_relation_is_answered_by_its_reverse():
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    facts = [(a, 0, b) for a, b in pairs] + [(b, 0, a) for a, b in pairs[:3]]
    scorer = Rules(graph_of(facts, 8, 1))
    assert int(np.argmax(asked(scorer, 7, 0, "tail"))) == 6
    best = scorer.of(0)
    assert (best.first[0], best.second[0]) == (1, -1)
    assert best.confidence[0] == 6 / (7 + DOUBT)


def test_the_score_of_a_triple_is_its_score_as_an_answer():
    graph = graph_of([(0, 0, 1), (1, 1, 2), (0, 2, 2), (3, 0, 1), (3, 2, 2)], 4, 3)
    scorer = Rules(graph)
    triples = np.array([[0, 2, 2], [3, 2, 2], [1, 0, 0]])
    wanted = [asked(scorer, h, r, "tail")[t] for h, r, t in triples.tolist()]
    assert scorer.score(triples).tolist() == wanted


def test_a_graph_without_facts_gives_no_answer_a_reason():
    scorer = Rules(graph_of([], 3, 2))
    assert asked(scorer, 0, 1, "tail") == [0, 0, 0]
