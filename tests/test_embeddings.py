import numpy as np
import pytest
import torch

from ingram.embeddings import Embeddings
from ingram.errors import DivergedError, EmbeddingsError, QueryError, UnknownLabelError
from ingram.graph import KnowledgeGraph


@pytest.fixture
def embeddings():
    """Cities 1, 2, 3, 4 along one axis: the score of (x, likes, y) is x * y, of hates -x * y."""
    graph = KnowledgeGraph.from_labels(
        [("Ada", "likes", "Bo"), ("Ada", "likes", "Cy"), ("Di", "hates", "Ada")]
    )
    order = {"Ada": 1.0, "Bo": 2.0, "Cy": 3.0, "Di": 4.0}
    entities = torch.tensor([[order[label], 0.0] for label in graph.entities.labels])
    return Embeddings(entities, torch.tensor([[1.0, 5.0], [-1.0, 5.0]]), graph)


def test_scores_are_products_of_three(embeddings):
    triples = embeddings.graph.triples
    assert embeddings.score(triples).tolist() == [2, 3, -4]
    assert embeddings.width == 2


def test_scores_of_candidates_are_the_scores_of_their_triples(embeddings):
    n = embeddings.graph.num_entities
    anchors, relations = torch.tensor([0, 1]), torch.tensor([0, 1])
    for side, triple in (("tail", lambda a, r, c: (a, r, c)), ("head", lambda a, r, c: (c, r, a))):
        found = embeddings.candidate_scores(anchors, relations, side)
        wanted = [
            embeddings.score(np.array([triple(a, r, c) for c in range(n)])).tolist()
            for a, r in ((0, 0), (1, 1))
        ]
        assert found.tolist() == wanted


def test_answers_come_best_first_with_what_is_known(embeddings):
    found = embeddings.predict(head="Ada", relation="likes", k=3)
    assert found.columns == ["head", "relation", "tail", "score", "rank", "known"]
    assert found.rows() == [
        ("Ada", "likes", "Di", 4.0, 1, False),
        ("Ada", "likes", "Cy", 3.0, 2, True),
        ("Ada", "likes", "Bo", 2.0, 3, True),
    ]


def test_heads_are_answered_too(embeddings):
    found = embeddings.predict(tail="Ada", relation="hates", k=10)
    assert found["head"].to_list() == ["Ada", "Bo", "Cy", "Di"]
    assert found["tail"].to_list() == ["Ada"] * 4
    assert found["known"].to_list() == [False, False, False, True]
    assert found["rank"].to_list() == [1, 2, 3, 4]


def test_known_answers_can_be_hidden(embeddings):
    found = embeddings.predict(head="Ada", relation="likes", known="hide")
    assert found["tail"].to_list() == ["Di", "Ada"]


@pytest.mark.parametrize("query", [{}, {"head": "Ada", "tail": "Bo"}])
def test_one_part_must_be_asked_for(embeddings, query):
    with pytest.raises(QueryError, match="give two of head, relation and tail"):
        embeddings.predict(relation="likes", **query)


def test_relations_are_answered_too(embeddings):
    found = embeddings.predict(head="Ada", tail="Bo")
    assert found.rows() == [
        ("Ada", "likes", "Bo", 2.0, 1, True),
        ("Ada", "hates", "Bo", -2.0, 2, False),
    ]


def test_unknown_labels_are_refused(embeddings):
    with pytest.raises(UnknownLabelError, match=r"no entity 'Adda' .* did you mean 'Ada'"):
        embeddings.predict(head="Adda", relation="likes")
    with pytest.raises(UnknownLabelError, match=r"no relation 'like' .* did you mean 'likes'"):
        embeddings.predict(head="Ada", relation="like")


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("what", ["entity", "relation"])
def test_vectors_that_are_not_finite_are_refused(embeddings, bad, what):
    vectors = {"entity": embeddings.entities.clone(), "relation": embeddings.relations.clone()}
    vectors[what][1, 1] = bad
    with pytest.raises(DivergedError, match=f"{what} vectors hold NaN or infinity"):
        Embeddings(vectors["entity"], vectors["relation"], embeddings.graph)


def test_a_table_written_comes_back(embeddings, tmp_path):
    made = {"model": "abc", "seed": [1, 2], "draws": 2}
    whole = Embeddings(embeddings.entities, embeddings.relations, embeddings.graph, made)
    whole.save(tmp_path / "e.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["e.parquet"]
    found = Embeddings.load(tmp_path / "e.parquet", embeddings.graph)
    assert torch.equal(found.entities, whole.entities)
    assert torch.equal(found.relations, whole.relations)
    assert found.made == made
    question = {"head": "Ada", "relation": "likes"}
    assert found.predict(**question).equals(whole.predict(**question))
    alone = Embeddings.load(tmp_path / "e.parquet")
    assert not alone.predict(**question)["known"].any()


def test_a_table_of_another_graph_is_refused(embeddings, tmp_path):
    embeddings.save(tmp_path / "e.parquet")
    other = KnowledgeGraph.from_labels([("Ada", "likes", "Bo")])
    with pytest.raises(EmbeddingsError, match="its entity labels are not those of the graph"):
        Embeddings.load(tmp_path / "e.parquet", other)


def test_files_that_are_no_table_are_refused(embeddings, tmp_path):
    path = tmp_path / "e.parquet"
    with pytest.raises(EmbeddingsError, match=r"e\.parquet: no such file"):
        Embeddings.load(path)
    embeddings.save(path)
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(EmbeddingsError, match=r"e\.parquet: want embeddings, got"):
            Embeddings.load(path)
    with pytest.raises(EmbeddingsError, match="no folder"):
        embeddings.save(tmp_path / "nowhere" / "e.parquet")
    path.unlink()
    path.mkdir()
    with pytest.raises(EmbeddingsError, match="cannot be written: Is a directory"):
        embeddings.save(path)
    assert list(tmp_path.iterdir()) == [path]
