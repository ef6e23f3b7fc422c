"""The load of a chaos run: clients that add, change, delete and erase, and write down what they were told.

A lane belongs to one client, which does one thing after another; so it knows the order in which its adds were sent.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from tests.chaos.told import Add, Diary

_PATIENCE = 20.0  # seconds for one request; the machine may be busy with restarts
_FOLLOW_SECONDS = 60.0
_AGAIN_SECONDS = 0.1
_THINK_SECONDS = 0.25  # between two things that a client does: the run is about kills, not about throughput
MOST_OPEN = 40  # events: above it the clients pause


@dataclass(frozen=True)
class Lane:
    """`pair` lanes of one name say the same texts; with an agent it is another lane that writes the same scope."""

    user: str
    infer: bool
    agent: str | None = None
    changes: bool = False
    erases: bool = False
    pair: bool = False

    @property
    def name(self) -> str:
        return f"{self.user}+{self.agent}" if self.agent else self.user

    @property
    def scope(self) -> dict[str, str]:
        return {"user_id": self.user} | ({"agent_id": self.agent} if self.agent else {})


def lanes(prefix: str, *, erases: bool) -> list[Lane]:
    """Of every kind; names differ between projects, so that nothing can pass for another's.

    An erasure takes the deliveries along that told of its user: a project that erases cannot be held to them.
    """
    return [
        Lane(f"{prefix}-word", infer=False),
        Lane(f"{prefix}-fact", infer=True),
        Lane(f"{prefix}-change", infer=True, changes=True),
        Lane(f"{prefix}-erase", infer=False, erases=erases),
        Lane(f"{prefix}-pair", infer=True, pair=True),
        Lane(f"{prefix}-pair", infer=True, pair=True, agent=f"{prefix}-bot"),
    ]


class Client(threading.Thread):
    """Sends until it is told to stop. `open_events` says how many events of all are open, for pacing."""

    def __init__(self, lane: Lane, address: str, key: str, diary: Diary, seed: int) -> None:
        super().__init__(name=f"client-{lane.name}", daemon=True)
        self.lane = lane
        self.diary = diary
        self.stopping = threading.Event()
        self.open_events: Callable[[], int] = lambda: 0
        self.failure: BaseException | None = None
        self._random = random.Random(f"{seed} {lane.name}")
        self._own: list[Add] = []
        self._http = httpx.Client(
            base_url=address, headers={"Authorization": f"Token {key}"}, timeout=_PATIENCE, trust_env=False
        )

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                self._step()
                self.stopping.wait(_THINK_SECONDS)
                while self.open_events() > MOST_OPEN and not self.stopping.wait(0.05):
                    continue
        except Exception as error:  # noqa: BLE001 - raised again by the test, which joins this thread
            self.failure = error
        finally:
            self._http.close()

    def _step(self) -> None:
        dice = self._random.random()
        if self.lane.changes and dice < 0.25 and (chosen := self._settled()) is not None:
            (self._update if dice < 0.15 else self._delete)(chosen)
        elif self.lane.erases and dice < 0.04 and self._own:
            self._erase()
        else:
            add = self._add()
            if add.answered and not add.shared and dice > (0.5 if self.lane.changes else 0.85):
                self._follow(add)

    def _add(self) -> Add:
        number = len(self._own)
        text = f"Parcel {self.lane.user}-{number} lies in locker {number}"
        key = f"{self.lane.name}-{number}" if self._random.random() < 0.4 else None
        add = Add(self.lane.name, number, text, key, shared=self.lane.pair)
        self._own.append(add)
        self.diary.note(add)
        body = {"messages": [{"role": "user", "content": text}], "infer": self.lane.infer, **self.lane.scope}
        headers = {"Idempotency-Key": key} if key else {}
        answer = self._until_answered("POST", "/v3/memories/add/", body, headers, once=key is None)
        if answer is None:
            self.diary.count("adds without an answer")
        elif answer.status_code == 200:
            self.diary.count("adds answered")
            add.event = UUID(answer.json()["event_id"])
        else:
            self.diary.accuse(f"an add was answered {answer.status_code}: {answer.text[:200]}")
        return add

    def _follow(self, add: Add) -> None:
        """Poll the event to its end; once it reads SUCCEEDED, the very next search has to find the memory."""
        until = time.monotonic() + _FOLLOW_SECONDS
        while add.status not in ("SUCCEEDED", "FAILED") and time.monotonic() < until and not self.stopping.is_set():
            answer = self._until_answered("GET", f"/v1/event/{add.event}/", None, {})
            if answer is None:
                return
            if answer.status_code != 200:
                self.diary.accuse(f"{add.lane} {add.number}: its event was answered {answer.status_code}")
                return
            add.status = answer.json()["status"]
            if add.status == "SUCCEEDED":
                self._find(add, answer.json())
            elif add.status == "FAILED":
                self.diary.accuse(f"{add.lane} {add.number}: FAILED with {answer.json().get('error')}")
            else:
                self.stopping.wait(_AGAIN_SECONDS)

    def _find(self, add: Add, event: dict[str, Any]) -> None:
        results = event.get("results") or []
        if len(results) != 1:
            self.diary.accuse(f"{add.lane} {add.number}: succeeded with {len(results)} results: {event}")
            return
        add.memory = UUID(results[0]["id"])
        body = {"query": add.text, "filters": {"user_id": self.lane.user}, "keyword_search": True}
        answer = self._once("POST", "/v3/memories/search/", body, {})
        if answer is not None and answer.status_code == 200:
            self.diary.count("searches after SUCCEEDED")
            if str(add.memory) not in [hit["id"] for hit in answer.json()["results"]]:
                self.diary.accuse(f"{add.lane} {add.number}: SUCCEEDED, and search does not find it")

    def _settled(self) -> Add | None:
        """An add of this lane whose memory is known and has not been changed yet."""
        known = [add for add in self._own if add.memory and add.now is None and not add.deleted]
        return self._random.choice(known) if known else None

    def _update(self, add: Add) -> None:
        text = add.unsure = f"{add.text}, by the door"
        answer = self._until_answered("PUT", f"/v1/memories/{add.memory}/", {"text": text}, {})
        if answer is None or answer.status_code != 200:
            return
        add.now, add.unsure = text, None
        self.diary.count("updates")

    def _delete(self, add: Add) -> None:
        add.unsure = ""
        answer = self._until_answered("DELETE", f"/v1/memories/{add.memory}/", None, {}, gone=True)
        if answer is not None:
            add.deleted, add.unsure = True, None
            self.diary.count("deletions")

    def _erase(self) -> None:
        for add in self._own:
            add.unsure = ""
        answer = self._until_answered("DELETE", f"/v2/entities/user/{self.lane.user}/", None, {}, gone=True)
        if answer is None:
            return
        for add in self._own:
            add.erased, add.unsure = True, None
        self.diary.count("erasures")

    def _until_answered(
        self, method: str, path: str, body: Any, headers: dict[str, str], *, once: bool = False, gone: bool = False
    ) -> httpx.Response | None:
        """The definite answer; None when there is none: at the first failure (`once`), or at the end of the run.

        A 503 and a broken connection tell nothing of what was done. `gone`: after such a failure, 404 is success.
        """
        failed = False
        while True:
            answer = self._once(method, path, body, headers)
            if answer is not None and answer.status_code < 400:
                return answer
            if answer is not None and answer.status_code != 503:
                if not (gone and failed and answer.status_code == 404):
                    self.diary.accuse(f"{method} {path} was answered {answer.status_code}: {answer.text[:200]}")
                return answer
            failed = True
            if self.stopping.wait(_AGAIN_SECONDS) or once:
                return None

    def _once(self, method: str, path: str, body: Any, headers: dict[str, str]) -> httpx.Response | None:
        """None when the connection broke or no answer came."""
        try:
            answer = self._http.request(method, path, json=body, headers=headers)
        except httpx.TransportError:
            self.diary.count("requests without an answer")
            return None
        if answer.status_code == 503:
            self.diary.count("requests answered 503")
        return answer
