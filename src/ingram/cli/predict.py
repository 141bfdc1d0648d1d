"""``ingram predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.answers import Ask, Candidates, GraphScorer, answer, encode_queries
from ingram.cli.names import meant, short
from ingram.cli.options import (
    Draws,
    FeatureSeed,
    GraphAfterRun,
    Json,
    RunOrGraph,
    Threads,
    With,
    WithWeight,
    run_and_graph,
    runs_beside,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import answers_table, console, print_json, progress_bar, written
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.inference.applying import apply_run
from ingram.inference.together import Added, Reranked
from ingram.io.options import ReadOptions
from ingram.io.reading import read_labels, read_queries
from ingram.io.tables import write_tables


@reads_a_graph
def predict_command(
    first: RunOrGraph,
    reading: ReadOptions,
    second: GraphAfterRun = None,
    *,
    head: Annotated[str | None, typer.Option(help="The head's label.")] = None,
    relation: Annotated[str | None, typer.Option(help="The relation's label.")] = None,
    tail: Annotated[str | None, typer.Option(help="The tail's label.")] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="A file of questions: head, relation, tail, the asked part empty or ?. TSV, CSV, "
            "Parquet or JSON Lines.",
            metavar="FILE",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the answers to a file: TSV, Parquet or JSON Lines."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many answers.")] = 10,
    known: Annotated[
        str,
        typer.Option(
            help="Answers that are facts already: [bold]mark[/] them in a column, [bold]hide[/] "
            "them, or [bold]keep[/] them unmarked.",
            metavar="hide|mark|keep",
        ),
    ] = "mark",
    among: Annotated[
        Path | None,
        typer.Option(help="Answer only with labels in this file, one a line.", metavar="FILE"),
    ] = None,
    typed: Annotated[
        bool,
        typer.Option(
            "--typed",
            help="Answer only with entities that have this place in the relation's facts.",
        ),
    ] = False,
    match: Annotated[
        str | None, typer.Option(help="Answer only with labels like 'K*a'.", metavar="PATTERN")
    ] = None,
    regex: Annotated[
        str | None, typer.Option(help="Answer only with labels in which this is found.")
    ] = None,
    rerank: Annotated[
        int | None,
        typer.Option(min=1, help="Rank the best N anew with --ranker.", metavar="N"),
    ] = None,
    ranker: Annotated[
        Path | None, typer.Option(help="The run that ranks anew, such as one of ingram-q.")
    ] = None,
    beside: With = None,
    with_weight: WithWeight = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Rank the answers to (HEAD, RELATION, ?), (?, RELATION, TAIL) or (HEAD, ?, TAIL) in a graph.

    Give two of the three, or a file of questions. If the run is calibrated (`ingram calibrate`),
    answers have probabilities.
    """
    given = sum(part is not None for part in (head, relation, tail))
    if given != (2 if queries is None else 0):
        raise ConfigError(
            "give two of --head, --relation and --tail, the third is asked for; or --queries FILE"
        )
    if queries is not None and output is None:
        raise ConfigError("--queries wants -o FILE to write the answers to")
    if (rerank is None) != (ranker is None):
        raise ConfigError("--rerank N and --ranker RUN belong together")
    if rerank is not None and beside:
        raise ConfigError("--rerank ranks anew, --with adds; give one of them")
    others = runs_beside(beside, with_weight)
    use_threads(threads)
    labels = None if among is None else read_labels(among)
    ask = Ask(k, known, Candidates(labels, match, regex, typed))
    run, graph = run_and_graph(first, second)
    scorer = apply_run(run, open_graph(graph, reading), draws=draws, seed=seed)
    if rerank is not None and ranker is not None:
        scorer = Reranked(scorer, apply_run(ranker, scorer.graph), rerank)
    for other, weight in others:
        scorer = Added(scorer, apply_run(other, scorer.graph), weight)
    if queries is not None and output is not None:
        ids = encode_queries(scorer.graph, read_queries(queries), str(queries))
        with progress_bar("answering", quiet=as_json) as progress:
            count = write_tables(answer(scorer, ids, ask, progress), output)
        written(output, {"queries": len(ids), "answers": count}, as_json=as_json)
        return
    _one(scorer, (head, relation, tail), ask, output, as_json=as_json)


def _one(
    scorer: GraphScorer,
    parts: tuple[str | None, str | None, str | None],
    ask: Ask,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    graph = scorer.graph
    head, tail = (part and meant(part, graph.entities) for part in parts[::2])
    relation = parts[1] and meant(parts[1], graph.relations)
    answers = scorer.predict(
        head=head, relation=relation, tail=tail, k=ask.k, known=ask.known, candidates=ask.candidates
    )
    if output is not None:
        write_tables([answers], output)
        written(output, {"queries": 1, "answers": len(answers)}, as_json=as_json)
        return
    if as_json:
        print_json(answers.to_dicts())
        return
    asked = "tail" if tail is None else "head" if head is None else "relation"
    question = ", ".join(short(part or "?") for part in (head, relation, tail))
    console.print(answers_table(f"({question})", answers, asked))
