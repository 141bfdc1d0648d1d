"""Every question that the service answers, and what it says to bad ones."""

import numpy as np
import pytest

from ingram.inference.applying import apply_run, explain_run
from tests.serve.services import EVIL, TOWNS


def ask(client, *questions, **more):
    return client.post("/predict", json={"questions": questions, **more})


def test_predict_gives_the_answers_of_the_library(client, run):
    asked = {"head": "Nairobi", "relation": "in_country"}
    answer = ask(client, asked, k=4)
    assert answer.status_code == 200
    wanted = apply_run(run, TOWNS).predict(**asked, k=4)
    (rows,) = answer.json()["answers"]
    assert [row["tail"] for row in rows] == wanted["tail"].to_list()
    assert [row["score"] for row in rows] == pytest.approx(wanted["score"].to_list(), rel=1e-4)
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    known = {row["tail"] for row in ask(client, asked, k=50).json()["answers"][0] if row["known"]}
    assert known == {"Kenya"}


def test_predict_asks_for_heads_hides_known_ones_and_keeps_the_order_of_questions(client):
    questions = [
        {"tail": "Kenya", "relation": "in_country"},
        {"head": "Kenya", "relation": "borders"},
        {"tail": "Uganda", "relation": "capital_of"},
    ]
    answers = ask(client, *questions, k=100, known="hide").json()["answers"]
    assert [rows[0]["relation"] for rows in answers] == ["in_country", "borders", "capital_of"]
    assert {row["tail"] for row in answers[0]} == {"Kenya"}
    assert "Mombasa" not in {row["head"] for row in answers[0]}
    assert len(answers[0]) == TOWNS.num_entities - 4


def test_score_gives_the_scores_of_the_library(client, run):
    triples = [("Nairobi", "capital_of", "Kenya"), ("Kenya", "borders", "東京")]
    named = [dict(zip(("head", "relation", "tail"), t, strict=True)) for t in triples]
    found = client.post("/score", json={"triples": named, "graph": "towns"}).json()["scores"]
    ids = np.array([[TOWNS.entities.id(h), TOWNS.relations.id(r), TOWNS.entities.id(t)]
                    for h, r, t in triples])  # fmt: skip
    assert found == pytest.approx(apply_run(run, TOWNS).score(ids).tolist(), rel=1e-4)


def test_explain_gives_the_explanation_of_the_library(client, run):
    asked = {"head": "Nairobi", "relation": "in_country", "tail": "Uganda"}
    found = client.get("/explain", params={**asked, "k": 3}).json()
    wanted = explain_run(run, TOWNS, *asked.values(), count=3).as_dict()
    assert [path["words"] for path in found["paths"]] == [p["words"] for p in wanted["paths"]]
    assert found["rank"] == wanted["rank"]


def test_the_embedding_model_explains_by_where_it_looks(vectors):
    asked = {"head": "Nairobi", "relation": "in_country", "tail": "Uganda"}
    assert vectors.get("/explain", params=asked).json()["neighbours"]


def test_similar_lists_the_nearest_vectors(vectors):
    for params in ({"entity": "Nairobi"}, {"relation": "borders"}):
        found = vectors.get("/similar", params={**params, "k": 2}).json()["similar"]
        assert [row["rank"] for row in found] == [1, 2]
        assert found[0]["cosine"] >= found[1]["cosine"]


def test_similar_says_that_a_model_without_vectors_has_none(client):
    answer = client.get("/similar", params={"entity": "Nairobi"})
    assert answer.status_code == 422
    assert "no vectors" in answer.json()["error"]


def test_entities_are_found_by_how_they_begin_whatever_the_case(client):
    found = client.get("/entities", params={"prefix": "k"}).json()["entities"]
    assert [row["label"] for row in found] == ["Kenya", "Kampala", "Kisumu"]
    assert client.get("/entities", params={"prefix": "東"}).json()["entities"][0] == {
        "label": "東京",
        "triples": 1,
    }
    assert client.get("/entities", params={"prefix": "nothing so"}).json()["entities"] == []


def test_relations_are_listed_with_their_counts(client):
    rows = client.get("/relations", params={"graph": "towns"}).json()["relations"]
    assert rows[0]["relation"] == "in_country"
    assert rows[0]["triples"] == 6
    assert {row["relation"] for row in rows} == {"in_country", "borders", "capital_of", EVIL}


def test_the_pictures_place_everything_within_the_frame(client, vectors):
    relations = client.get("/relations/map").json()
    assert len(relations["relations"]) == TOWNS.num_relations
    assert all(0 < edge["affinity"] <= 1 for edge in relations["edges"])
    for service, how in ((client, "neighbours in the graph"), (vectors, "vectors")):
        drawn = service.get("/entities/map").json()
        assert how in drawn["how"]
        assert all(-1 <= point[axis] <= 1 for point in drawn["points"] for axis in "xy")
    assert len(drawn["points"]) == TOWNS.num_entities


def test_statistics_are_those_of_data_info(client):
    figures = client.get("/statistics").json()["statistics"]
    assert figures["triples"] == 12
    assert figures["entities"] == TOWNS.num_entities


def test_a_graph_is_chosen_by_name_and_the_first_one_is_the_default(client):
    listed = client.get("/graphs").json()["graphs"]
    assert [(g["name"], g["uploaded"]) for g in listed] == [("towns", False), ("letters", False)]
    answer = ask(client, {"head": "a", "relation": "before"}, graph="letters").json()
    assert answer["graph"] == "letters"
    assert client.get("/statistics").json()["graph"] == "towns"
    assert client.get("/graphs/letters").json()["triples"] == 7


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"questions": [{"head": "Nairob", "relation": "borders"}]}, 404, "did you mean 'Nairobi'"),
        ({"questions": [{"head": "Kenya", "relation": "border"}]}, 404, "no relation 'border'"),
        ({"questions": [{"head": "Kenya", "relation": "borders"}], "graph": "x"}, 404, "towns"),
        ({"questions": [{"head": "Kenya", "relation": "borders"}], "k": 10**30}, 422, "limit `k`"),
        ({"questions": [{"head": "Kenya", "relation": "borders"}], "k": 0}, 422, "body.k"),
        ({"questions": [{"relation": "borders"}]}, 422, "give two of head, relation and tail"),
        ({"questions": []}, 422, "questions"),
        ({"questions": [{"head": "Kenya", "relation": "borders", "size": 1}]}, 422, "size"),
        ({"questions": [{"head": "\x00", "relation": "borders"}]}, 404, "no entity"),
        ({"questions": [{"head": 3, "relation": "borders"}]}, 422, "head"),
        (["Kenya"], 422, "body"),
    ],
)
def test_a_bad_question_gets_one_line_and_a_4xx(client, body, status, said):
    answer = client.post("/predict", json=body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert said in answer.json()["error"]


@pytest.mark.parametrize(
    "body", [b"{", b"", b"\xff\xfe", b"[" * 100_000, b'{"k": ' + b"9" * 5_000 + b"}", b'"\\ud800"']
)
def test_malformed_json_gets_one_line_and_a_4xx(client, body):
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert len(answer.json()["error"]) < 1_100


@pytest.mark.parametrize(
    ("path", "params", "said"),
    [
        ("/explain", {"head": "Kenya", "relation": "borders", "tail": "x"}, "no entity 'x'"),
        (
            "/explain",
            {"head": "Kenya", "relation": "borders", "tail": "Kenya", "k": 999},
            "reasons",
        ),
        ("/explain", {"head": "Kenya"}, "relation"),
        ("/similar", {}, "give an entity or a relation"),
        ("/entities", {"k": 10**6}, "limit `k`"),
        ("/entities", {"k": "many"}, "k"),
        ("/statistics", {"graph": "nowhere"}, "no graph 'nowhere'"),
        ("/nowhere", {}, "Not Found"),
    ],
)
def test_a_bad_look_gets_one_line_and_a_4xx(client, path, params, said):
    answer = client.get(path, params=params)
    assert 400 <= answer.status_code < 500
    assert said in answer.json()["error"]


def test_too_many_questions_are_refused_by_the_name_of_the_limit(client):
    question = {"head": "Kenya", "relation": "borders"}
    assert "limit `batch`" in ask(client, *[question] * 257).json()["error"]
    assert "limit `answers`" in ask(client, *[question] * 200, k=1_000).json()["error"]
    triple = {**question, "tail": "Kenya"}
    assert (
        "limit `batch`" in client.post("/score", json={"triples": [triple] * 257}).json()["error"]
    )


def test_health_and_metrics_speak_of_the_service(client):
    assert client.get("/health").json()["graphs"] == 2
    ask(client, {"head": "Kenya", "relation": "borders"})
    client.get("/graphs/towns")
    text = client.get("/metrics").text
    assert 'ingram_requests_total{method="POST",route="/predict",status="200"}' in text
    assert 'route="/graphs/{name}"' in text
    assert "ingram_questions_together_bucket" in text
    assert "ingram_graphs 2.0" in text
