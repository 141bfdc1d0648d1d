"""Services that the tests of one file share."""

import pytest

from tests.serve.services import client_of, embedding_run, query_run


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return query_run(tmp_path_factory.mktemp("runs") / "query")


@pytest.fixture(scope="session")
def vectors_run(tmp_path_factory):
    return embedding_run(tmp_path_factory.mktemp("runs") / "embedding")


@pytest.fixture(scope="module")
def client(run):
    with client_of(run) as client:
        yield client


@pytest.fixture(scope="module")
def vectors(vectors_run):
    with client_of(vectors_run) as client:
        yield client
