"""Small services to ask: random weights, a graph about a few towns."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from ingram.graph import KnowledgeGraph
from ingram.models import InGram, InGramQ, QueryModelConfig
from ingram.serve.app import create_app
from ingram.serve.graphs import Shelf
from ingram.serve.limits import Limits
from ingram.serve.metrics import Metrics
from ingram.serve.running import listen, server_of
from ingram.training.config import QueryConfig, dump_config
from ingram.training.presets import PRESETS
from tests.tiny import tiny_config

HERE = "http://127.0.0.1"
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
TOWNS = KnowledgeGraph.from_labels(
    [
        ("Nairobi", "capital_of", "Kenya"),
        ("Kampala", "capital_of", "Uganda"),
        ("Mombasa", "in_country", "Kenya"),
        ("Nairobi", "in_country", "Kenya"),
        ("Jinja", "in_country", "Uganda"),
        ("Kenya", "borders", "Uganda"),
        ("Uganda", "borders", "Kenya"),
        ("Kenya", "borders", "Tanzania"),
        ("Dodoma", "in_country", "Tanzania"),
        ("Kisumu", EVIL, EVIL),
        (EVIL, "in_country", "Kenya"),
        ("東京", "in_country", "Kenya"),
    ]
)
TSV = "a\tr\tb\nb\tr\tc\nc\ts\ta\n"


def query_run(path: Path) -> Path:
    """A run of the query-conditioned model with random weights."""
    config = QueryModelConfig(width=8, relation_layers=2, entity_layers=2, bins=3)
    return _written(path, InGramQ(config), QueryConfig(model=config))


def embedding_run(path: Path) -> Path:
    """The same of the embedding model."""
    config = tiny_config()
    return _written(path, InGram(config), PRESETS["default"].model_copy(update={"model": config}))


def _written(path, model, config):
    path.mkdir()
    (path / "config.yaml").write_text(dump_config(config))
    model.save(path / "model.safetensors", {})
    return path


def shelf_of(run: Path, **limits) -> Shelf:
    """Two graphs by name; the first is about towns."""
    shelf = Shelf(run, Limits(**limits), Metrics())
    shelf.put(shelf.prepared("towns", TOWNS))
    letters = [(a, "before", b) for a, b in zip("abcdefg", "bcdefgh", strict=True)]
    shelf.put(shelf.prepared("letters", KnowledgeGraph.from_labels(letters)))
    return shelf


def client_of(run: Path, *, token: str | None = None, **limits) -> TestClient:
    """A client of a service; use it in a ``with`` statement."""
    app = create_app(shelf_of(run, **limits), token=token, hosts=("127.0.0.1", "localhost"))
    return TestClient(app, base_url=HERE, raise_server_exceptions=True)


@contextmanager
def listening(shelf: Shelf, **given):
    """The port of a service that really listens, on a thread of its own."""
    ready = threading.Event()
    server = server_of(create_app(shelf, **given), shelf.limits, ready.set)
    listener = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert ready.wait(30)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
        listener.close()
