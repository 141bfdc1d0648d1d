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


@pytest.fixture
def two_sided(embeddings):
    """A head is asked for with 10 times the relation, or turned round."""
    inverses = torch.tensor([[10.0, 0.0], [1.0, 0.0]])
    made = {"model": "abc", "seed": 0, "draws": 1}
    return Embeddings(
        embeddings.entities, embeddings.relations, embeddings.graph, made, None, inverses
    )


def test_inverses_of_their_own_ask_for_heads_and_for_nothing_else(embeddings, two_sided):
    anchors, relations = torch.tensor([1, 3]), torch.tensor([0, 1])
    for side, wanted in (("tail", [[4, 16, 8, 12], [-3, -12, -6, -9]]),
                         ("head", [[40, 160, 80, 120], [3, 12, 6, 9]])):  # fmt: skip
        assert two_sided.candidate_scores(anchors, relations, side).tolist() == wanted
        none = torch.zeros(3, dtype=torch.long), torch.empty(0, dtype=torch.long)
        higher, equal = two_sided.rank_counts(anchors, relations, side, torch.tensor([2, 2]), *none)
        ranks = [sum(x > row[2] for x in row) for row in wanted]
        assert (higher.tolist(), equal.tolist()) == (ranks, [0, 0])
    triples = embeddings.graph.triples
    assert torch.equal(two_sided.score(triples), embeddings.score(triples))
    assert two_sided.predict(tail="Ada", relation="hates")["head"].to_list()[0] == "Di"


@pytest.mark.parametrize("suffix", ["parquet", "npz", "safetensors", "vec"])
def test_inverses_of_their_own_survive_a_file(embeddings, two_sided, tmp_path, suffix):
    two_sided.save(tmp_path / f"e.{suffix}")
    found = Embeddings.load(tmp_path / f"e.{suffix}", two_sided.graph)
    assert torch.equal(found.inverses, two_sided.inverses)
    embeddings.save(tmp_path / f"e.{suffix}")  # in their place: none are left over
    assert Embeddings.load(tmp_path / f"e.{suffix}", two_sided.graph).inverses is None


def test_inverses_of_other_relations_are_refused(two_sided, tmp_path):
    two_sided.save(tmp_path / "e.vec")
    text = (tmp_path / "e.inverses.vec").read_text()
    (tmp_path / "e.inverses.vec").write_text(text.replace("likes", "loves"))
    with pytest.raises(EmbeddingsError, match="want embeddings, got inverses of other relations"):
        Embeddings.load(tmp_path / "e.vec")


def test_inverses_unlike_the_relations_are_refused(two_sided, tmp_path):
    odd = Embeddings(
        two_sided.entities,
        two_sided.relations,
        two_sided.graph,
        two_sided.made,
        None,
        two_sided.inverses[:, :1],
    )
    odd.save(tmp_path / "e.npz")
    with pytest.raises(EmbeddingsError, match=r"want inverse vectors like .* \(2, 2\), got"):
        Embeddings.load(tmp_path / "e.npz")


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
@pytest.mark.parametrize("what", ["entity", "relation", "inverse"])
def test_vectors_that_are_not_finite_are_refused(embeddings, bad, what):
    relations = embeddings.relations
    vectors = {
        "entity": embeddings.entities.clone(),
        "relation": relations.clone(),
        "inverse": relations.clone(),
    }
    vectors[what][1, 1] = bad
    with pytest.raises(DivergedError, match=f"{what} vectors hold NaN or infinity"):
        Embeddings(
            vectors["entity"],
            vectors["relation"],
            embeddings.graph,
            inverses=vectors["inverse"],
        )


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
