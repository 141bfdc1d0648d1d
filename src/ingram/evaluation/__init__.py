"""Filtered ranking and what is computed from ranks."""

from ingram.evaluation.metrics import TIES, metrics
from ingram.evaluation.ranking import CandidateScorer, rank

__all__ = ["TIES", "CandidateScorer", "metrics", "rank"]
