"""Broken bodies of HTTP requests, each in a file that is named after where it is sent."""

from __future__ import annotations

import json
import random
from pathlib import Path

from ingram.errors import IngramError
from ingram.io.formats import FORMATS
from tests.serve.services import TOWNS, client_of, query_run
from tests.torture.graph_files import broken_graph, mutated
from tests.torture.spoiling import spoil

HEAD, RELATION, TAIL = TOWNS.decode(TOWNS.triples[:1]).row(0)
BODIES = {
    "predict": {
        "questions": [{"head": HEAD, "relation": RELATION}, {"relation": RELATION, "tail": TAIL}],
        "graph": "towns", "k": 3, "known": "mark", "typed": True,
    },
    "score": {
        "triples": [{"head": HEAD, "relation": RELATION, "tail": TAIL}] * 2, "graph": "towns",
    },
}  # fmt: skip


class Bodies:
    """A service with random weights, and what is sent to it."""

    def __init__(self, folder: Path) -> None:
        self.client = client_of(query_run(folder / "served"))

    def make(self, folder: Path, rng: random.Random) -> Path:
        """A question with something wrong in what it says or how it is written, or an upload."""
        where = rng.choice([*BODIES, "upload"])
        if where == "upload":
            suffix, data = broken_graph(rng)
        else:
            said = json.loads(json.dumps(BODIES[where]))
            for _ in range(rng.choice((0, 1, 1, 3))):
                spoil(said, rng)
            suffix, data = ".json", json.dumps(said).encode()
            if rng.random() < 0.5:
                data = mutated(data, rng)
        path = folder / f"{where}{suffix}"
        path.write_bytes(data)
        return path

    def send(self, path: Path) -> None:
        """An error of ours if it is refused; any other if the service fails."""
        where = path.name.split(".")[0]
        if where == "upload":
            format_ = next(f for f, suffixes in FORMATS.items() if path.suffixes[0] in suffixes)
            answer = self.client.put(
                "/graphs/upload", params={"format": format_}, content=path.read_bytes()
            )
        else:
            json_type = {"content-type": "application/json"}
            answer = self.client.post(f"/{where}", content=path.read_bytes(), headers=json_type)
        if answer.status_code >= 500:
            raise RuntimeError(f"status {answer.status_code}: {answer.text}")
        if answer.status_code >= 400:
            raise IngramError(f"{path}: {answer.json()['error']}")
        assert answer.json()
        if where == "upload":
            assert self.client.delete("/graphs/upload").status_code == 204
