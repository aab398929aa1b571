"""`GET /metrics`: counts for Prometheus, in a registry of this server's own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from bot.store import Store

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds; GitHub waits for ten."""


class Metrics:
    """What is counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "testforge_deliveries", "Webhook deliveries by outcome.", ["outcome"], registry=self._registry
        )
        self._seconds = Histogram(
            "testforge_delivery_seconds",
            "Seconds until a delivery was answered.",
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._runs = Gauge("testforge_runs", "Runs by state.", ["state"], registry=self._registry)

    def delivery(self, outcome: str, seconds: float) -> None:
        """Count a delivery: `accepted`, `duplicate`, `ignored`, `refused` or `failed`."""
        self._deliveries.labels(outcome).inc()
        self._seconds.observe(seconds)

    async def __call__(self, _request: Request) -> Response:
        """Answer with all counts."""
        counts = await run_in_threadpool(self._store.runs.count)
        self._runs.clear()
        for state, number in sorted(counts.items()):
            self._runs.labels(state).set(number)
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)
