"""From scores to answers: ranked tables with labels, known answers told apart."""

from ingram.answers.asking import Ask, answer, encode_queries
from ingram.answers.batches import refuse_diverged
from ingram.answers.candidates import Candidates
from ingram.answers.known import KnownAnswers
from ingram.answers.scorer import GraphScorer

__all__ = [
    "Ask",
    "Candidates",
    "GraphScorer",
    "KnownAnswers",
    "answer",
    "encode_queries",
    "refuse_diverged",
]
