"""Inductive knowledge graph embedding: learn on one graph, apply to any other."""

from ingram import threads as threads
