"""The vocabulary of the cases: ADD, SEARCH, LIST over raw HTTP on a project of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.conftest import TestProject
from tests.waiting import wait_until

ENDED = ("SUCCEEDED", "FAILED")


def said(content: Any, role: str = "user") -> list[dict[str, Any]]:
    return [{"role": role, "content": content}]


@dataclass
class Field:
    http: httpx.Client

    def send(self, messages: Any, user: str | None = "u", **more: Any) -> httpx.Response:
        """POST an add; a plain string is one user message."""
        body = {"messages": said(messages) if isinstance(messages, str) else messages, **more}
        if user is not None:
            body["user_id"] = user
        return self.http.post("/v3/memories/add/", json=body)

    def accept(self, messages: Any, user: str | None = "u", **more: Any) -> str:
        answer = self.send(messages, user, **more)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["event_id"])

    def event(self, event_id: str) -> dict[str, Any]:
        answer = self.http.get(f"/v1/event/{event_id}/")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def ended(self, event_id: str, seconds: float = 90.0) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            event = self.event(event_id)
            return event if event["status"] in ENDED else None

        return wait_until(found, seconds, what=f"event {event_id} ends")

    def add(self, messages: Any, user: str | None = "u", **more: Any) -> dict[str, Any]:
        """ADD of the cases: post, then poll the event to its end."""
        return self.ended(self.accept(messages, user, **more))

    def stored(self, messages: Any, user: str | None = "u", **more: Any) -> list[str]:
        """The ids that an add stored; fails when it did not succeed."""
        event = self.add(messages, user, **more)
        assert event["status"] == "SUCCEEDED", event
        return [result["id"] for result in event["results"]]

    def search(self, query: str, filters: Any | None = None, **more: Any) -> list[dict[str, Any]]:
        body = {"query": query, "filters": filters if filters is not None else {"user_id": "u"}, **more}
        answer = self.http.post("/v3/memories/search/", json=body)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["results"])

    def texts(self, query: str, filters: Any | None = None, **more: Any) -> list[str]:
        return [hit["memory"] for hit in self.search(query, filters, **more)]

    def page(self, filters: Any | None = None, query: str = "", **more: Any) -> dict[str, Any]:
        body = {"filters": filters if filters is not None else {"user_id": "u"}, **more}
        answer = self.http.post(f"/v3/memories/{query}", json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def listed(self, filters: Any | None = None, **more: Any) -> list[str]:
        return [row["memory"] for row in self.page(filters, "?page_size=200", **more)["results"]]


@contextmanager
def field_of(project: TestProject) -> Iterator[Field]:
    with httpx.Client(base_url=project.url, headers=project.headers, timeout=60.0, trust_env=False) as client:
        yield Field(client)
