"""The webhooks worker killed while a receiver answers: the same delivery comes again, under the same id."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from cryptography.fernet import Fernet

from core.domain.ids import project_wire_id
from core.services.issue_key import issue_key
from deploy.local.ports import free_port
from tests.chaos.cluster import Cluster, cluster, wait_until
from tests.doubles.counting_receiver import CountingReceiver

pytestmark = [pytest.mark.chaos, pytest.mark.long]


@pytest.fixture(scope="module")
def place() -> Iterator[Cluster]:
    settings = {"MEMLANE_WEBHOOK_ALLOW_PRIVATE": "loopback", "MEMLANE_SECRET_KEY": Fernet.generate_key().decode()}
    with cluster(**settings) as running:
        yield running


def test_a_delivery_whose_sender_died_before_it_noted_the_answer_comes_again_under_its_id(place: Cluster) -> None:
    key = issue_key(place.database, "courier")
    place.api(port := free_port())
    place.worker("ingest")
    options = ["--queues", "webhooks,upkeep", "--name", "upkeep", "--concurrency", "2"]
    sender = place.part("upkeep", ["deploy.cli.main", "worker", *options])
    address, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Token {key.key}"}
    with CountingReceiver() as receiver, httpx.Client(base_url=address, headers=headers, trust_env=False) as client:
        receiver.before_answer = sender.kill  # of the first request alone
        wait_until(lambda: _answers(client), "the API answers")
        body = {"name": "chaos", "url": receiver.url, "event_types": ["memory_add"]}
        path = f"/api/v1/webhooks/projects/{project_wire_id(key.project_id)}/"
        assert client.post(path, json=body).status_code == 201
        sender.start()
        messages = [{"role": "user", "content": "A fact"}]
        added = client.post("/v3/memories/add/", json={"messages": messages, "user_id": "ann", "infer": False})
        assert added.status_code == 200
        wait_until(lambda: sender.kills == 1, "the sender is killed amid its delivery")
        sender.start()
        wait_until(lambda: list(receiver.ids.values()) == [2], "the same delivery comes again", 90)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False
