"""``ingram predict``."""

from __future__ import annotations

from typing import Annotated

import typer

from ingram.cli.options import Draws, FeatureSeed, Graph, Json, Run, Threads, use_threads
from ingram.cli.screen import answers_table, console, print_json
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.models import InGram
from ingram.training.checkpoints import RunDirectory


def predict_command(
    run: Run,
    graph: Graph,
    relation: Annotated[str, typer.Option(help="The relation's label.")],
    head: Annotated[str | None, typer.Option(help="Ask for tails of this entity.")] = None,
    tail: Annotated[str | None, typer.Option(help="Ask for heads of this entity.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many answers.")] = 10,
    hide_known: Annotated[
        bool, typer.Option("--hide-known", help="Leave out answers that are facts already.")
    ] = False,
    draws: Draws = None,
    seed: FeatureSeed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Rank the answers to (HEAD, RELATION, ?) or (?, RELATION, TAIL) in a graph."""
    if (head is None) == (tail is None):
        raise ConfigError("give --head or --tail, and leave the other to be predicted")
    use_threads(threads)
    draws = draws or RunDirectory(run).config().evaluation.draws
    embeddings = InGram.load(run).embed(open_graph(graph), seed=seed, draws=draws)
    answers = embeddings.predict(
        head=head, relation=relation, tail=tail, k=k, known="hide" if hide_known else "mark"
    )
    if as_json:
        print_json(answers.to_dicts())
        return
    asked = "tail" if head is not None else "head"
    question = f"({head or '?'}, {relation}, {tail or '?'})"
    console.print(answers_table(question, answers, asked))
