"""Filtered ranking and what is computed from ranks."""

from ingram.evaluation.metrics import TIES, metrics
from ingram.evaluation.ranking import CandidateScorer, KnownAnswers, rank

__all__ = ["TIES", "CandidateScorer", "KnownAnswers", "metrics", "rank"]
