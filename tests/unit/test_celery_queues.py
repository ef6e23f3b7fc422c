"""Queues are apart: a wake-up for one never reaches the workers of another."""

from __future__ import annotations

from itertools import permutations

import pytest

from core.adapters.celery_app import QUEUES, celery_app


def test_rabbitmq_gets_quorum_queues_and_confirmed_publishing() -> None:
    for producer in (True, False):
        app = celery_app("amqp://127.0.0.1//", producer=producer)
        assert {app.amqp.queues[name].queue_arguments["x-queue-type"] for name in QUEUES} == {"quorum"}
        assert app.conf.broker_transport_options["confirm_publish"] is True
        app.close()


@pytest.mark.parametrize("broker", ["redis://127.0.0.1/0", "amqp://127.0.0.1//"])
def test_no_two_queues_share_a_binding(broker: str) -> None:
    app = celery_app(broker, producer=True)
    bindings = {name: (app.amqp.queues[name].exchange.name, app.amqp.queues[name].routing_key) for name in QUEUES}
    assert all(bindings[one] != bindings[two] for one, two in permutations(QUEUES, 2))
    app.close()
