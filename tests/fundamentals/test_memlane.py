"""Memlane in fourteen lessons, to be read from top to bottom; see README.md."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.doubles.receiver import Receiver
from tests.fundamentals.conftest import Done


def texts(found: dict[str, Any]) -> list[str]:
    return [memory["memory"] for memory in found["results"]]


def test_01_what_is_said_can_be_searched(official_client: Any, done: Done) -> None:
    done(official_client.add("I can't eat shellfish, and I play the cello.", user_id="nora"))
    found = official_client.search("What instrument do I play?", filters={"user_id": "nora"})
    assert "cello" in texts(found)[0]
    assert 0 < found["results"][0]["score"] <= 1


def test_02_an_add_is_accepted_at_once_and_done_in_the_background(official_client: Any, done: Done) -> None:
    accepted = official_client.add("I moved to Porto in May 2024.", user_id="nora")
    assert accepted["status"] == "PENDING"
    event = done(accepted)
    assert event["status"] == "SUCCEEDED"
    [result] = event["results"]
    # once the event says SUCCEEDED, its memories are there for every reader
    assert official_client.get(result["id"])["memory"] == result["memory"]


def test_03_only_what_is_worth_keeping_is_kept(official_client: Any, done: Done) -> None:
    talk = [
        {"role": "user", "content": "Hi! How do I cook rice?"},
        {"role": "assistant", "content": "You're welcome. Anything else?"},
    ]
    event = done(official_client.add(talk, user_id="nora"))
    assert (event["results"], event["reason"]) == ([], "nothing_to_store")
    # infer=False stores every message as it stands
    kept = done(official_client.add(talk, user_id="nora", infer=False))
    assert len(kept["results"]) == 2


def test_04_a_lane_keeps_the_order_in_which_things_were_said(official_client: Any, done: Done) -> None:
    """Everything added for one scope runs in order, whatever goes on beside it."""
    steps = [official_client.add(f"Step {n}", user_id="nora", infer=False) for n in range(6)]
    done(steps[-1])  # so all before it are done too
    listed = official_client.get_all(filters={"user_id": "nora"})
    assert texts(listed) == [f"Step {n}" for n in reversed(range(6))]  # newest first


def test_05_what_is_known_is_not_stored_twice(official_client: Any, done: Done) -> None:
    for said in ("I prefer tea over coffee", "I prefer tea over coffee!", "i prefer  tea over coffee"):
        event = done(official_client.add(said, user_id="nora"))
    assert event["reason"] == "all_duplicates"
    assert official_client.get_all(filters={"user_id": "nora"})["count"] == 1


def test_06_a_memory_belongs_to_a_scope(official_client: Any, done: Done) -> None:
    done(official_client.add("The door code is 4417", user_id="nora", infer=False))
    done(official_client.add("The door code is 9002", user_id="ben", infer=False))
    done(official_client.add("The door code is 5500", user_id="nora", run_id="holiday", infer=False))
    search = {"query": "door code", "threshold": 0.0}
    assert texts(official_client.search(**search, filters={"user_id": "nora"})) == ["The door code is 4417"]
    both = {"user_id": "nora", "run_id": "holiday"}
    assert texts(official_client.search(**search, filters=both)) == ["The door code is 5500"]


def test_07_filters_select_by_metadata_and_nest(official_client: Any, done: Done) -> None:
    for text, metadata in (("Red", {"n": 1}), ("Green", {"n": 2}), ("Blue", {"n": 3})):
        done(official_client.add(text, user_id="nora", metadata=metadata, infer=False))
    either = {"OR": [{"metadata": {"n": 1}}, {"metadata": {"n": 3}}]}
    found = official_client.get_all(filters={"AND": [{"user_id": "nora"}, either]})
    assert sorted(texts(found)) == ["Blue", "Red"]


def test_08_a_memory_can_be_changed_and_remembers_what_it_was(official_client: Any, done: Done) -> None:
    [added] = done(official_client.add("I play the cello", user_id="nora", infer=False))["results"]
    official_client.update(added["id"], text="I play the viola")
    changes = official_client.history(added["id"])
    assert [(change["event"], change["new_memory"]) for change in changes] == [
        ("ADD", "I play the cello"),
        ("UPDATE", "I play the viola"),
    ]
    found = official_client.search("viola", filters={"user_id": "nora"})
    assert texts(found) == ["I play the viola"]


def test_09_the_newest_truth_comes_first_and_the_older_stays_labelled(official_client: Any, done: Done) -> None:
    for said in ("I live in Lyon.", "I live in Porto now."):
        done(official_client.add(said, user_id="nora"))
    home = {"query": "Where does she live?", "filters": {"user_id": "nora"}, "threshold": 0.0}
    found = official_client.search(**home)["results"]
    assert [("Porto" in memory["memory"], memory["lifecycle_state"]) for memory in found] == [
        (True, "active"),
        (False, "superseded"),
    ]
    assert len(official_client.search(**home, latest_only=True)["results"]) == 1


def test_10_a_deleted_memory_is_gone_at_once(official_client: Any, done: Done) -> None:
    results = done(official_client.add([{"role": "user", "content": "One"}], user_id="nora", infer=False))["results"]
    done(official_client.add("Two", user_id="nora", infer=False))
    official_client.delete(results[0]["id"])
    assert texts(official_client.get_all(filters={"user_id": "nora"})) == ["Two"]
    official_client.delete_all(user_id="nora")  # the rest is purged in the background, but nobody sees it any more
    assert official_client.get_all(filters={"user_id": "nora"})["count"] == 0


def test_11_an_erased_user_leaves_no_trace_but_a_receipt(
    official_client: Any, client: httpx.Client, done: Done
) -> None:
    done(official_client.add("My passport number is X123", user_id="nora", infer=False))
    event = done(client.delete("/v2/entities/user/nora/").json())
    assert event["status"] == "SUCCEEDED"
    assert official_client.get_all(filters={"user_id": "nora"})["count"] == 0
    assert client.get("/v1/entities/").json()["results"] == []


def test_12_webhooks_tell_what_happened_and_are_signed(official_client: Any, done: Done, receiver: Receiver) -> None:
    hook = official_client.create_webhook(
        url=receiver.url,
        name="mine",
        project_id=official_client.project.project_id,
        event_types=["memory_add"],
    )
    done(official_client.add("I play the cello", user_id="nora", infer=False))
    told = receiver.verified(hook["secret"])["event_details"]  # raises where the signature is wrong
    assert (told["event"], told["data"]["memory"]) == ("ADD", "I play the cello")


def test_13_a_request_sent_twice_is_done_once(client: httpx.Client, done: Done) -> None:
    body = {"messages": [{"role": "user", "content": "I play the cello"}], "user_id": "nora", "infer": False}
    first, second = (client.post("/v3/memories/add/", json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2))
    assert first.json()["event_id"] == second.json()["event_id"]
    assert second.headers["Idempotency-Replayed"] == "true"
    done(first.json())
    other = client.post("/v3/memories/add/", json={**body, "user_id": "ben"}, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 422


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我叫林澜，在杭州做测试工程师，对芒果过敏", "我对什么过敏", "芒果"),
        ("Ich wohne in Leipzig und spiele Kontrabass", "Welches Instrument spiele ich?", "Kontrabass"),
        ("部署流程：先 make build 再 kubectl apply", "how to deploy the application", "make build"),
    ],
)
def test_14_memories_stay_in_their_language_and_are_found_from_another(
    official_client: Any, done: Done, said: str, asked: str, word: str
) -> None:
    done(official_client.add(said, user_id="nora"))
    assert word in texts(official_client.search(asked, filters={"user_id": "nora"}))[0]
