"""The Celery application: one place for the settings of producers and workers."""

from __future__ import annotations

from celery import Celery
from kombu.entity import Exchange, Queue

CONFIRM_SECONDS = 1.0  # how long a producer waits for RabbitMQ to say that it has a message
QUEUES = ("ingest", "webhooks", "upkeep")
_REDIS = ("redis", "rediss", "valkey", "unix", "sentinel")


def celery_app(broker_url: str, *, producer: bool) -> Celery:
    """Transport only: JSON, ids at most, no result backend, late acknowledgement, no delays in the broker.

    A producer tries once and gives up fast: the sweep covers what is not published.
    """
    app = Celery("memlane", broker=broker_url, set_as_current=not producer)
    redis = broker_url.split(":", 1)[0].split("+", 1)[0] in _REDIS
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        result_backend=None,
        task_acks_late=True,
        task_reject_on_worker_lost=False,
        task_queues=[_queue(name, redis) for name in QUEUES],
        task_default_queue="ingest",
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=True,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        enable_utc=True,
        timezone="UTC",
    )
    (_for_producer if producer else _for_worker)(app, redis)
    return app


def _queue(name: str, redis: bool) -> Queue:
    """A queue with an exchange and a key of its own: without, all queues would get every queue's messages."""
    arguments = None if redis else {"x-queue-type": "quorum"}
    return Queue(name, Exchange(name), routing_key=name, queue_arguments=arguments)


def _for_producer(app: Celery, redis: bool) -> None:
    options: dict[str, object] = {"max_retries": 0, "interval_start": 0}
    if redis:
        options |= {"socket_timeout": 0.2, "socket_connect_timeout": 0.2, "retry_on_timeout": False}
    else:  # unconfirmed, a publish to a broker that hangs looks like a good one; see CONFIRM_SECONDS
        options |= {"connect_timeout": 0.2, "confirm_publish": True, "read_timeout": 2, "write_timeout": 2}
    app.conf.update(
        broker_transport_options=options,
        broker_connection_timeout=0.2,
        broker_connection_retry=False,
        broker_pool_limit=1,
        task_publish_retry=False,
    )


def _for_worker(app: Celery, redis: bool) -> None:
    options: dict[str, object] = {"confirm_publish": True}
    if redis:
        options = {
            "visibility_timeout": 300,
            "socket_timeout": 10,
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
            "health_check_interval": 10,
        }
    app.conf.update(broker_transport_options=options, broker_connection_timeout=2)
