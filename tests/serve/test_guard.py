"""Who is let in, and what every answer carries."""

import pytest

from ingram.serve.guard import SECURITY
from tests.serve.services import TSV, client_of


@pytest.fixture(scope="module")
def closed(run):
    with client_of(run, token="a secret", seconds=20) as client:
        yield client


@pytest.mark.parametrize("path", ["/graphs", "/metrics", "/openapi.json", "/nowhere"])
@pytest.mark.parametrize(
    "given", [None, "Bearer", "Bearer a secre", "Bearer a secretx", "a secret"]
)
def test_without_the_token_nothing_is_told(closed, path, given):
    headers = {} if given is None else {"authorization": given}
    answer = closed.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert list(answer.json()) == ["error"]


def test_with_the_token_everything_is_and_the_page_needs_none(closed):
    assert closed.get("/graphs", headers={"authorization": "Bearer a secret"}).status_code == 200
    for path in ("/", "/docs", "/health", "/page/nothing.js"):
        assert closed.get(path).status_code in (200, 404)


def test_an_upload_without_the_token_is_not_read(closed):
    assert closed.put("/graphs/mine", content=TSV).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "[::2]:80"])
def test_a_name_that_is_not_ours_is_refused(client, host):
    answer = client.get("/graphs", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost"])
def test_our_own_names_are_taken(client, host):
    assert client.get("/graphs", headers={"host": host}).status_code == 200


def test_a_page_of_another_site_may_not_ask(client):
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999", "http://["):
        answer = client.put("/graphs/mine", content=TSV, headers={"origin": origin})
        assert answer.status_code == 403
    body = {"questions": [{"head": "Kenya", "relation": "borders"}]}
    own = client.post("/predict", json=body, headers={"origin": "http://127.0.0.1"})
    assert own.status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs", "/graphs", "/nowhere", "/metrics", "/page/x"])
def test_every_answer_keeps_browsers_safe(client, path):
    headers = client.get(path).headers
    assert {name: headers[name] for name in SECURITY} == SECURITY
    assert "unsafe" not in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


def test_an_error_of_ours_shows_no_trace(run, caplog):
    with client_of(run) as client:
        served = client.app.app.state.shelf.get("towns")
        served.predict._answer = lambda questions: 1 / 0
        answer = client.post(
            "/predict", json={"questions": [{"head": "Kenya", "relation": "borders"}]}
        )
        assert answer.status_code == 500
        assert list(answer.json()) == ["error"]
        assert "ZeroDivision" not in answer.text
        assert client.get("/health").status_code == 200
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("size", [1_001, 10**8])
def test_a_body_that_announces_too_much_is_refused(run, size):
    with client_of(run, body=1_000) as client:
        answer = client.post(
            "/predict", content=b" " * min(size, 10**6), headers={"content-length": str(size)}
        )
        assert answer.status_code == 413
        assert "limit `body`" in answer.json()["error"]
        assert answer.headers["connection"] == "close"
