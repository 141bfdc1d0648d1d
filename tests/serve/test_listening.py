"""Clients as they are: slow, rude, gone. On real sockets."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.serve.services import listening, shelf_of

QUESTION = json.dumps({"questions": [{"head": "Kenya", "relation": "borders"}]}).encode()


@pytest.fixture(scope="module")
def service(run):
    """A service in a hurry: its shelf and its port."""
    shelf = shelf_of(run, seconds=2, upload_seconds=2, header_seconds=1, together=16)
    with listening(shelf) as port:
        yield shelf, port


@contextmanager
def line(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        yield connection


def head(method, path, *headers):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]).encode()


def said(connection):
    """All that comes until the other side closes, as status, text."""
    got = b""
    while piece := connection.recv(65_536):
        got += piece
    top, _, body = got.partition(b"\r\n\r\n")
    return int(top.split()[1]), body.decode()


def asked(port):
    with line(port) as connection:
        length = f"Content-Length: {len(QUESTION)}"
        kind = "Content-Type: application/json"
        connection.sendall(head("POST", "/predict", length, kind, "Connection: close") + QUESTION)
        return said(connection)


def counted(shelf, route, status):
    found = shelf.metrics.registry.get_sample_value(
        "ingram_requests_total", {"route": route, "method": "POST", "status": str(status)}
    )
    return found or 0


@contextmanager
def held_up(shelf):
    """Answers wait until the event is set."""
    batcher = shelf.get("towns").predict
    answer, go, begun = batcher._answer, threading.Event(), threading.Event()
    batches = []

    def slow(questions):
        batches.append(len(questions))
        begun.set()
        assert go.wait(30)
        return answer(questions)

    batcher._answer = slow
    try:
        yield go, begun, batches
    finally:
        go.set()
        batcher._answer = answer


def test_a_hundred_megabytes_are_refused_before_the_first_byte(service):
    with line(service[1]) as connection:
        connection.sendall(head("PUT", "/graphs/mine", "Content-Length: 104857600"))
        status, text = said(connection)
    assert status == 413
    assert "limit `upload`" in json.loads(text)["error"]


def test_a_body_without_a_length_is_cut_off_at_the_limit(run):
    with listening(shelf_of(run, upload=2**16)) as port, line(port) as connection:
        connection.sendall(head("PUT", "/graphs/mine", "Transfer-Encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 2**16 + b"\r\n"
        sent = 0
        try:
            for _ in range(1_600):
                connection.sendall(piece)
                sent += len(piece)
            status, _ = said(connection)
        except (BrokenPipeError, ConnectionResetError):
            status = 413
        assert status == 413
        assert sent < 5 * 10**7


@pytest.mark.parametrize(
    "start",
    [
        head("POST", "/predict", "Content-Type: application/json", "Content-Length: 999") + b'{"qu',
        head("PUT", "/graphs/mine", "Content-Length: 999") + b"a\tr\tb\n",
    ],
)
def test_a_body_that_does_not_come_is_not_waited_for(service, start):
    with line(service[1]) as connection:
        connection.sendall(start)
        status, text = said(connection)
    assert status == 408
    assert "did not arrive within 2 s" in text
    assert [graph.name for graph in service[0]] == ["towns", "letters"]


@pytest.mark.parametrize("start", [b"", b"GET / HT", head("GET", "/health")[:-2]])
def test_a_head_that_does_not_come_is_not_waited_for(service, start):
    with line(service[1]) as connection:
        connection.sendall(start)
        assert connection.recv(1) == b""


def test_an_answer_that_takes_too_long_is_given_up(service):
    with held_up(service[0]):
        status, text = asked(service[1])
    assert status == 408
    assert "was not answered within 2 s" in text
    assert asked(service[1])[0] == 200


def test_a_client_that_goes_away_is_not_worked_for(service):
    shelf, port = service
    gone = counted(shelf, "/predict", 499)
    with held_up(shelf) as (go, begun, batches), ThreadPoolExecutor(1) as pool:
        first = pool.submit(asked, port)
        assert begun.wait(20)
        with line(port) as connection:
            length = f"Content-Length: {len(QUESTION)}"
            kind = "Content-Type: application/json"
            connection.sendall(head("POST", "/predict", length, kind) + QUESTION)
            time.sleep(0.2)
        until = time.monotonic() + 20
        while counted(shelf, "/predict", 499) == gone and time.monotonic() < until:
            time.sleep(0.02)
        go.set()
        assert first.result()[0] == 200
    assert counted(shelf, "/predict", 499) == gone + 1
    assert batches == [1]


def test_a_client_that_goes_away_while_uploading_leaves_nothing(service):
    shelf, port = service
    with line(port) as connection:
        connection.sendall(head("PUT", "/graphs/mine", "Content-Length: 999") + b"a\tr\tb\n")
    assert asked(port)[0] == 200
    assert [graph.name for graph in shelf] == ["towns", "letters"]


def test_questions_of_many_clients_share_passes(service):
    shelf, port = service
    with held_up(shelf) as (go, begun, batches), ThreadPoolExecutor(12) as pool:
        answers = [pool.submit(asked, port) for _ in range(12)]
        assert begun.wait(20)
        until = time.monotonic() + 1.5
        while len(shelf.get("towns").predict._waiting) < 11 and time.monotonic() < until:
            time.sleep(0.02)
        go.set()
        answered = [answer.result() for answer in answers]
    assert {status for status, _ in answered} == {200}
    tails = [[row["tail"] for row in json.loads(text)["answers"][0]] for _, text in answered]
    assert tails == [tails[0]] * 12
    assert sum(batches) == 12
    assert len(batches) <= 3


def test_garbage_is_no_request(service):
    with line(service[1]) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        assert said(connection)[0] == 400
    assert asked(service[1])[0] == 200
