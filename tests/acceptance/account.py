"""A project as its owner sees it: an official client on a real socket, and plain HTTP beside it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.conftest import TestProject
from tests.waiting import wait_until

KINDS = ("sync", "async")
ENDED = ("SUCCEEDED", "FAILED")
_TLS = ssl.create_default_context()  # to read the certificates anew for each client costs 30 ms


class AsyncCalled:
    """AsyncMemoryClient, called like MemoryClient: every call runs to its end on one event loop of its own."""

    def __init__(self, key: str, host: str) -> None:
        from mem0 import AsyncMemoryClient

        self._loop = asyncio.new_event_loop()
        self.inner = AsyncMemoryClient(api_key=key, host=host)
        self.project = self.inner.project

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.inner, name)
        return lambda *args, **kwargs: self._loop.run_until_complete(method(*args, **kwargs))

    def close(self) -> None:
        self._loop.run_until_complete(self.inner.async_client.aclose())
        self._loop.close()


@contextmanager
def official(kind: str, key: str, host: str) -> Iterator[Any]:
    """The unmodified client of the PyPI package mem0ai: `kind` is "sync" or "async"."""
    from mem0 import MemoryClient

    client = AsyncCalled(key, host) if kind == "async" else MemoryClient(api_key=key, host=host)
    try:
        yield client
    finally:
        if isinstance(client, AsyncCalled):
            client.close()
        else:
            client.client.close()


@dataclass(frozen=True)
class Account:
    project: TestProject
    client: Any  # MemoryClient, or AsyncCalled
    http: httpx.Client

    @property
    def url(self) -> str:
        """The address of the project's own settings."""
        project = self.client.project
        return f"/api/v1/orgs/organizations/{project.org_id}/projects/{project.project_id}/"

    def ended(self, accepted: dict[str, Any]) -> dict[str, Any]:
        """The event of an accepted request, at its end."""

        def look() -> dict[str, Any] | None:
            answer = self.http.get(f"/v1/event/{accepted['event_id']}/")
            event: dict[str, Any] = answer.raise_for_status().json()
            return event if event["status"] in ENDED else None

        return wait_until(look, 60.0, what="the event ends")

    def remember(self, messages: Any, **more: Any) -> list[dict[str, Any]]:
        """Add and wait: the results of the event, which has to succeed."""
        event = self.ended(self.client.add(messages, **more))
        assert event["status"] == "SUCCEEDED", event
        results: list[dict[str, Any]] = event["results"]
        return results

    def verbatim(self, *texts: str, **more: Any) -> list[str]:
        """Store each text as it stands, and return the ids in the same order."""
        results = self.remember([{"role": "user", "content": text} for text in texts], infer=False, **more)
        id_of = {result["memory"]: result["id"] for result in results}
        return [id_of[text] for text in texts]

    def listed(self, **body: Any) -> list[dict[str, Any]]:
        """All that `get_all` gives with this body, in one page."""
        found = self.client.get_all(**body, page_size=200)
        assert found["next"] is None
        rows: list[dict[str, Any]] = found["results"]
        return rows

    def found(self, query: str, **body: Any) -> list[dict[str, Any]]:
        """All that `search` gives, threshold off where the body does not set one."""
        rows: list[dict[str, Any]] = self.client.search(query, **{"threshold": 0.0, "top_k": 200, **body})["results"]
        return rows

    def scope_strictly(self, strict: bool) -> None:
        self.http.patch(self.url, json={"strict_scoping": strict}).raise_for_status()


@contextmanager
def account(project: TestProject, kind: str = "sync") -> Iterator[Account]:
    with (
        httpx.Client(base_url=project.url, headers=project.headers, timeout=30.0, verify=_TLS) as http,
        official(kind, project.key, project.url) as client,
    ):
        yield Account(project, client, http)


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return [row["memory"] for row in rows]


def ids(rows: list[dict[str, Any]]) -> set[str]:
    return {row["id"] for row in rows}
