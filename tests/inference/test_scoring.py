import polars as pl
import pytest
import torch

from ingram.errors import DivergedError, UnknownLabelError
from ingram.inference import scoring
from ingram.inference.scoring import score_triples
from ingram.labels import FIELDS
from tests.answers.tables import TableScorer
from tests.answers.test_calibration import calibration
from tests.strategies import random_graph


@pytest.fixture
def scorer():
    return TableScorer(random_graph(0, 6, 3, 30))


def frame(*rows):
    return pl.DataFrame(rows, schema=FIELDS, orient="row")


def test_triples_come_back_in_their_order_with_scores_and_what_is_known(scorer, monkeypatch):
    monkeypatch.setattr(scoring, "ROWS", 2)
    triples = frame(("e1", "r0", "e2"), ("e0", "r2", "e0"), ("e1", "r0", "e2"), ("e5", "r1", "e3"))
    found = pl.concat(score_triples(scorer, triples))
    facts = set(scorer.graph.labelled().select(FIELDS).rows())
    assert found.rows() == [
        (*row, scorer.scores[int(row[0][1]), int(row[1][1]), int(row[2][1])].item(), row in facts)
        for row in triples.rows()
    ]
    assert found.columns == [*FIELDS, "score", "known"]


def test_a_calibrated_scorer_says_how_likely_and_whether_true(scorer):
    scorer = scorer.calibrated(calibration(threshold=2.0))
    found = pl.concat(score_triples(scorer, scorer.graph.decode(scorer.graph.triples)))
    assert found.columns == [*FIELDS, "score", "known", "probability", "true"]
    assert found["true"].to_list() == (found["score"] >= 2).to_list()
    wanted = scorer.calibration.probability(found["score"].to_numpy())
    assert found["probability"].to_list() == wanted.tolist()


def test_no_triples_give_a_table_with_its_columns(scorer):
    (found,) = score_triples(scorer, frame(("e0", "r0", "e1"))[:0])
    assert found.columns == [*FIELDS, "score", "known"]
    assert len(found) == 0


def test_an_unknown_label_is_refused_with_where_it_stood(scorer):
    with pytest.raises(UnknownLabelError, match=r"t\.tsv: no entity 'e11' .* did you mean"):
        list(score_triples(scorer, frame(("e11", "r0", "e1")), "t.tsv"))


def test_a_diverged_model_is_refused(scorer):
    scorer.scores[0, 0, 0] = torch.inf
    with pytest.raises(DivergedError, match="NaN or infinity"):
        list(score_triples(scorer, frame(("e0", "r0", "e0"))))
