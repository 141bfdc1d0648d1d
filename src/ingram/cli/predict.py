"""``ingram predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.names import meant, short
from ingram.cli.options import (
    Draws,
    FeatureSeed,
    GraphAfterRun,
    Json,
    RunOrGraph,
    Threads,
    run_and_graph,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import answers_table, console, print_json
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.inference.applying import apply_run
from ingram.inference.reranking import Reranked
from ingram.io.options import ReadOptions


@reads_a_graph
def predict_command(
    first: RunOrGraph,
    reading: ReadOptions,
    second: GraphAfterRun = None,
    *,
    relation: Annotated[str, typer.Option(help="The relation's label.")],
    head: Annotated[str | None, typer.Option(help="Ask for tails of this entity.")] = None,
    tail: Annotated[str | None, typer.Option(help="Ask for heads of this entity.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many answers.")] = 10,
    hide_known: Annotated[
        bool, typer.Option("--hide-known", help="Leave out answers that are facts already.")
    ] = False,
    rerank: Annotated[
        int | None,
        typer.Option(min=1, help="Rank the best N anew with --ranker.", metavar="N"),
    ] = None,
    ranker: Annotated[
        Path | None, typer.Option(help="The run that ranks anew, such as one of ingram-q.")
    ] = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Rank the answers to (HEAD, RELATION, ?) or (?, RELATION, TAIL) in a graph."""
    if (head is None) == (tail is None):
        raise ConfigError("give --head or --tail, and leave the other to be predicted")
    if (rerank is None) != (ranker is None):
        raise ConfigError("--rerank N and --ranker RUN belong together")
    use_threads(threads)
    run, graph = run_and_graph(first, second)
    known = "hide" if hide_known else "mark"
    scorer = apply_run(run, open_graph(graph, reading), draws=draws, seed=seed)
    if rerank is not None and ranker is not None:
        scorer = Reranked(scorer, apply_run(ranker, scorer.graph), rerank)
    head = head and meant(head, scorer.graph.entities)
    tail = tail and meant(tail, scorer.graph.entities)
    relation = meant(relation, scorer.graph.relations)
    answers = scorer.predict(head=head, relation=relation, tail=tail, k=k, known=known)
    if as_json:
        print_json(answers.to_dicts())
        return
    asked = "tail" if head is not None else "head"
    question = f"({short(head or '?')}, {short(relation)}, {short(tail or '?')})"
    console.print(answers_table(question, answers, asked))
