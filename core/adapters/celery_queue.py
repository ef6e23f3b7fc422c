"""Wake-ups through Celery, off the request's path: a bounded, de-duplicating set and one publisher thread."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from kombu.exceptions import OperationalError

from core.adapters.celery_app import CONFIRM_SECONDS, celery_app
from core.ports.runtime import Telemetry

TASKS = {"ingest": "memlane.drain", "webhooks": "memlane.deliver", "upkeep": "memlane.upkeep"}
_MOST = 10_000
_PAUSE_SECONDS = 1.0


class CeleryQueue:
    """Implements WorkQueue. `wake` only notes the wish; the thread publishes it.

    After a failed publish nothing is published for a second: a broker that is down costs nobody anything.
    """

    def __init__(self, broker_url: str, telemetry: Telemetry) -> None:
        self._app = celery_app(broker_url, producer=True)
        self._telemetry = telemetry
        self._wanted: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._publish, name="publisher", daemon=True)
        self._thread.start()

    def wake(self, queue: str = "ingest", key: str = "") -> None:
        with self._changed:
            if len(self._wanted) < _MOST:
                self._wanted[(queue, key)] = None
                self._changed.notify()

    def reachable(self) -> bool:
        """Whether the broker answers, within a fraction of a second."""
        try:
            with self._app.connection_for_write() as connection:
                return connection.default_channel is not None
        except (OperationalError, OSError):
            return False

    def close(self) -> None:
        """Publish what is waiting, within two seconds, and stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout=2)
        self._app.close()

    def _publish(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._closing)
                if not self._wanted:
                    return
                (queue, _), _ = self._wanted.popitem(last=False)
            if not self._send(queue) and not self._closing:
                time.sleep(_PAUSE_SECONDS)

    def _send(self, queue: str) -> bool:
        try:
            self._app.send_task(
                TASKS[queue], queue=queue, ignore_result=True, retry=False, confirm_timeout=CONFIRM_SECONDS
            )
        except (OperationalError, OSError) as error:
            self._telemetry.emit("wake_failed", queue=queue, error=type(error).__name__)
            return False
        return True
