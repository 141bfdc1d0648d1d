"""Answers against a brute-force ranking, with every filter, on random graphs."""

import fnmatch
import re

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import Ask, Candidates, answer, asking, batches, encode_queries
from ingram.errors import DivergedError, QueryError, UnknownLabelError
from ingram.labels import FIELDS
from tests.answers.tables import TableScorer
from tests.strategies import graph_of, graphs, seeds


def brute_force(scorer, query, ask):
    """Rows (head, relation, tail, score, rank, known) by going through everything."""
    graph, c = scorer.graph, ask.candidates
    facts = set(graph.decode(graph.triples).rows())
    asked = query.index(None)
    vocabulary = graph.relations if asked == 1 else graph.entities
    found = []
    for label in vocabulary.labels:
        triple = tuple(label if part is None else part for part in query)
        if c.labels is not None and label not in c.labels:
            continue
        if c.glob is not None and not fnmatch.fnmatchcase(label, c.glob):
            continue
        if c.regex is not None and not re.search(c.regex, label):
            continue
        if c.typed and not any(f[1] == query[1] and f[asked] == label for f in facts):
            continue
        if ask.known == "hide" and triple in facts:
            continue
        ids = graph.encode(pl.DataFrame([triple], schema=FIELDS, orient="row"))
        found.append((*triple, scorer.score(ids).item(), triple in facts))
    found.sort(key=lambda row: -row[3])  # stable: equal scores keep the order of ids
    rows = [(*row[:4], rank, row[4]) for rank, row in enumerate(found[: ask.k], start=1)]
    return rows if ask.known == "mark" else [row[:5] for row in rows]


@st.composite
def questions(draw):
    """A scorer, some queries of every kind, and a way to ask."""
    graph = draw(graphs(max_entities=12))
    entity, relation = (
        st.sampled_from(v.labels.to_list()) for v in (graph.entities, graph.relations)
    )
    typed = draw(st.booleans())
    kinds = [st.tuples(entity, relation, st.none()), st.tuples(st.none(), relation, entity)]
    if not typed:
        kinds.append(st.tuples(entity, st.none(), entity))
    queries = draw(st.lists(st.one_of(kinds), min_size=1, max_size=6))
    both = not typed and any(q[1] is None for q in queries)
    labels = None if both else draw(st.none() | st.lists(entity, max_size=5))
    glob = draw(st.sampled_from([None, "*", "e?", "e[0-4]", "[!e]*", "*1*"]))
    regex = draw(st.sampled_from([None, "[02468]$", "^e1", "x"]))
    candidates = Candidates(labels, glob, regex, typed)
    ask = Ask(draw(st.integers(1, 15)), draw(st.sampled_from(asking.KNOWN)), candidates)
    return TableScorer(graph, draw(seeds)), queries, ask


@given(questions())
def test_answers_are_those_of_a_brute_force_ranking(case):
    scorer, queries, ask = case
    frame = pl.DataFrame(queries, schema=dict.fromkeys(FIELDS, pl.String), orient="row")
    found = pl.concat(answer(scorer, encode_queries(scorer.graph, frame), ask))
    wanted = [
        (number, *row)
        for number, query in enumerate(queries, start=1)
        for row in brute_force(scorer, query, ask)
    ]
    assert found.rows() == wanted
    first = dict(zip(FIELDS, queries[0], strict=True))
    alone = scorer.predict(**first, k=ask.k, known=ask.known, candidates=ask.candidates)
    assert alone.rows() == brute_force(scorer, queries[0], ask)


@given(questions(), st.sampled_from([1, 50, 200]), st.sampled_from([1, 7]))
def test_how_the_queries_are_batched_makes_no_difference(case, budget, rows):
    scorer, queries, ask = case
    frame = pl.DataFrame(queries, schema=dict.fromkeys(FIELDS, pl.String), orient="row")
    ids = encode_queries(scorer.graph, frame)
    whole = pl.concat(answer(scorer, ids, ask))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches.scored_batches, "__kwdefaults__", {"budget": budget})
        patch.setattr(asking, "ROWS", rows)
        assert pl.concat(answer(scorer, ids, ask)).equals(whole)


@pytest.fixture
def scorer():
    return TableScorer(graph_of([(0, 0, 1), (0, 0, 2), (2, 1, 0)], 4, 2))


def test_a_table_of_queries_takes_null_nothing_and_a_question_mark(scorer):
    frame = pl.DataFrame(
        {"head": ["e0", None, "e1"], "relation": ["r0", "r1", "?"], "tail": ["", "e0", "e2"]}
    )
    found = scorer.predict(frame, k=1)
    assert found["query"].to_list() == [1, 2, 3]
    wanted = [
        scorer.predict(**question, k=1)
        for question in (
            {"head": "e0", "relation": "r0"},
            {"relation": "r1", "tail": "e0"},
            {"head": "e1", "tail": "e2"},
        )
    ]
    assert found.drop("query").equals(pl.concat(wanted))


def test_columns_say_what_was_asked(scorer):
    columns = ["head", "relation", "tail", "score", "rank"]
    question = {"head": "e0", "relation": "r0"}
    assert scorer.predict(**question).columns == [*columns, "known"]
    assert scorer.predict(**question, known="hide").columns == columns
    assert scorer.predict(**question, known="keep").columns == columns
    empty = pl.DataFrame(schema=dict.fromkeys(FIELDS, pl.String))
    assert scorer.predict(empty).schema == scorer.predict(pl.DataFrame(
        {"head": ["e0"], "relation": ["r0"], "tail": [None]}, schema=empty.schema
    )).schema  # fmt: skip


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("e0", "?", ""), r"f\.tsv: query 2: want one of head, relation and tail to be asked for"),
        (("e0", "r0", "e1"), "query 2: want one of head"),
        (("e00", "r0", "?"), "query 2: no entity 'e00' in this graph; did you mean"),
        (("e0", "r", "?"), "query 2: no relation 'r' in this graph; did you mean"),
    ],
)
def test_a_bad_row_is_refused_by_its_number(scorer, row, said):
    frame = pl.DataFrame([("e0", "r0", "?"), row], schema=FIELDS, orient="row")
    with pytest.raises((QueryError, UnknownLabelError), match=said):
        encode_queries(scorer.graph, frame, "f.tsv")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"head": "e0", "relation": "r0", "known": "drop"}, "want one of hide, mark, keep"),
        ({"head": "e0", "relation": "r0", "k": 0}, "want at least one answer, got 0"),
        ({"head": "e0", "tail": "e1", "candidates": Candidates(typed=True)}, "leave out typed"),
        ({"head": "e0", "relation": "r0", "candidates": Candidates(["x9"])}, "no entity 'x9'"),
        ({"head": "e0", "relation": "r0", "candidates": Candidates(regex="(")}, "want a pattern"),
        ({"queries": pl.DataFrame({"head": ["e0"]})}, "want columns head, relation, tail"),
        ({"queries": pl.DataFrame(), "head": "e0"}, "not both"),
    ],
)
def test_what_cannot_be_asked_is_refused(scorer, arguments, said):
    with pytest.raises((QueryError, UnknownLabelError), match=said) as error:
        scorer.predict(**arguments)
    assert "\n" not in str(error.value)


def test_a_score_that_is_no_number_is_refused(scorer):
    scorer.scores[0, 0, 3] = torch.nan
    with pytest.raises(DivergedError, match="NaN"):
        scorer.predict(head="e0", relation="r0")


def test_no_batch_of_scores_is_larger_than_the_budget(scorer, monkeypatch):
    seen = []
    whole = scorer.candidate_scores
    monkeypatch.setattr(
        scorer, "candidate_scores",
        lambda *args, **rest: seen.append(len(args[0])) or whole(*args, **rest),
    )  # fmt: skip
    monkeypatch.setattr(batches.scored_batches, "__kwdefaults__", {"budget": 4 * 4 * 3})
    queries = np.tile([0, 0, asking.ASKED], (10, 1))
    pl.concat(answer(scorer, queries, Ask()))
    assert seen == [3, 3, 3, 1]
