"""What the service counts of itself, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
TOGETHER = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Of one service; several in one process do not mix."""

    CONTENT_TYPE = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ingram_requests",
            "Requests by route, method and status",
            ["route", "method", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "ingram_request_seconds",
            "Time from a request's head to its answer",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.together = Histogram(
            "ingram_questions_together",
            "Questions answered in one pass over a graph",
            buckets=TOGETHER,
            registry=self.registry,
        )
        self.graphs = Gauge("ingram_graphs", "Graphs being served", registry=self.registry)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request. ``route`` is a template such as /graphs/{name}, never a path."""
        self.requests.labels(route, method, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)
