"""Graphs come and go; hostile ones are turned away."""

import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingram.errors import ConfigError
from ingram.serve.graphs import name_for
from tests.serve.services import EVIL, TSV, client_of


@pytest.fixture
def free(run):
    with client_of(run, graphs=2, triples=50, entities=40, relations=5, label=60) as client:
        yield client


def test_a_graph_is_uploaded_asked_about_and_deleted(free):
    answer = free.put("/graphs/mine", content=TSV)
    assert answer.status_code == 201
    assert answer.json()["triples"] == 3
    assert answer.json()["uploaded"]
    asked = {"graph": "mine", "questions": [{"head": "a", "relation": "s"}]}
    assert len(free.post("/predict", json=asked).json()["answers"][0]) == 3
    assert free.get("/entities", params={"graph": "mine", "prefix": "B"}).json()["entities"]
    assert free.delete("/graphs/mine").status_code == 204
    assert free.post("/predict", json=asked).status_code == 404
    assert free.delete("/graphs/mine").status_code == 404


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ({}, gzip.compress(TSV.encode(), mtime=0)),
        ({"format": "csv"}, TSV.replace("\t", ",")),
        ({"format": "csv", "columns": "to,kind,from"}, "kind,from,to\nr,a,b\n"),
        ({"columns": "2,1,0"}, TSV),
        ({"header": "true"}, "head\trelation\ttail\n" + TSV),
        ({"format": "nt"}, "<http://x/a> <http://x/r> <http://x/b> .\n"),
        ({"format": "ttl"}, "@prefix x: <http://x/> . x:a x:r x:b ."),
        ({"format": "jsonl"}, '{"head": "a", "relation": "r", "tail": "b"}\n'),
    ],
)
def test_a_graph_comes_in_any_format(free, params, body):
    answer = free.put("/graphs/mine", content=body, params=params)
    assert answer.status_code == 201, answer.text
    assert "head" not in [
        row["label"] for row in free.get("/entities", params={"graph": "mine"}).json()["entities"]
    ]


def test_an_iri_may_be_asked_for_by_its_short_form(free):
    turtle = "@prefix x: <http://x/> . x:a x:r x:b ."
    free.put("/graphs/rdf", content=turtle, params={"format": "ttl"})
    assert free.get("/graphs/rdf").json()["prefixes"] == {"x": "http://x/"}
    asked = {"graph": "rdf", "questions": [{"head": "x:a", "relation": "x:r"}], "k": 1}
    (row,) = free.post("/predict", json=asked).json()["answers"][0]
    assert row["head"] == "http://x/a"


def star(count):
    return "".join(f"hub\tr{i}\te{i}\n" for i in range(count))


@pytest.mark.parametrize(
    ("params", "body", "status", "said"),
    [
        ({}, "", 400, "mine: want lines"),
        ({}, "a\tb\n", 400, "mine:1: want 3 tab-separated fields"),
        ({}, b"\xff\xfe\xff\tr\tb\n", 400, "mine:1"),
        ({}, b"\x1f\x8b broken", 400, "gzip"),
        ({"format": "parquet"}, b"PAR1", 400, "mine"),
        ({"format": "xlsx"}, TSV, 400, "no format 'xlsx'"),
        ({"columns": "0,1"}, TSV, 400, "columns: want three"),
        ({"literals": "true"}, TSV, 400, "the option literals is for"),
        ({"header": "perhaps"}, TSV, 422, "header"),
        ({}, star(6), 413, "limit `relations`"),
        ({}, "".join(f"a\tr\te{i}\n" for i in range(45)), 413, "limit `entities`"),
        ({}, "".join(f"e{i % 9}\tr{i % 3}\te{i // 9}\n" for i in range(81)), 413, "`triples`"),
        ({}, f"{'x' * 61}\tr\tb\n", 413, "limit `label`"),
        ({}, gzip.compress(b"a\tr\tb\n" * 10**6), 400, "unpacks to more"),
    ],
)
def test_a_hostile_upload_gets_one_line_and_leaves_nothing(run, params, body, status, said):
    limits = {"triples": 50, "entities": 40, "relations": 5, "label": 60, "unpacked": 10**6}
    with client_of(run, **limits) as client:
        answer = client.put("/graphs/mine", content=body, params=params)
        assert answer.status_code == status, answer.text
        assert said in answer.json()["error"]
        assert "/tmp" not in answer.text
        assert len(client.get("/graphs").json()["graphs"]) == 2
        assert client.put("/graphs/mine", content=TSV).status_code == 201


@pytest.mark.parametrize("name", ["..", "a b", "-a", "x" * 65, "%2e%2e%2fetc", "é", "<b>"])
def test_a_name_that_does_not_suit_an_address_is_refused(free, name):
    assert free.put(f"/graphs/{name}", content=TSV).status_code in (404, 405, 422)


def test_a_name_is_taken_once_and_places_run_out(free):
    assert free.put("/graphs/towns", content=TSV).status_code == 409
    assert free.put("/graphs/one", content=TSV).status_code == 201
    assert free.put("/graphs/one", content=TSV).status_code == 409
    assert free.put("/graphs/two", content=TSV).status_code == 201
    answer = free.put("/graphs/three", content=TSV)
    assert answer.status_code == 409
    assert "limit `graphs`" in answer.json()["error"]


def test_only_one_of_two_uploads_at_once_gets_the_name(free):
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: free.put("/graphs/mine", content=TSV), range(2)))
    assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_graphs_given_at_the_start_cannot_be_deleted(free):
    answer = free.delete("/graphs/towns")
    assert answer.status_code == 403
    assert free.get("/graphs/towns").status_code == 200


def test_labels_come_back_as_they_are_and_as_json_only(client):
    answer = client.get("/entities", params={"prefix": "<img"})
    assert answer.json()["entities"][0]["label"] == EVIL
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("world", "world"), ("a/b/facts.tsv.gz", "facts"), ("NL-100", "NL-100"), ("-", "stdin"),
        ("v1.2/", "v1.2"), ("my graph (2).ttl", "my-graph-2"), ("東京.txt", "graph"),
    ],
)  # fmt: skip
def test_a_graph_is_called_by_its_file(path, name):
    assert name_for(path, set()) == name


def test_two_graphs_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="called 'msg' already"):
        name_for("b/msg.txt", {"msg"})
