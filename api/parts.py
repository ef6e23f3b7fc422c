"""What the HTTP layer needs of a composed process."""

from __future__ import annotations

from typing import Protocol, cast

from starlette.requests import Request

from core.ports.identity import Authenticator
from core.ports.runtime import Telemetry
from core.services.rate_limit import RateLimiter
from core.services.runtime import Runtime
from core.services.webhooks import WebhookParts
from core.settings import Settings


class Parts(Protocol):
    """`core.container.Container` as seen from here; tests of transport hand in less."""

    @property
    def settings(self) -> Settings: ...

    @property
    def authenticator(self) -> Authenticator: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def limiter(self) -> RateLimiter: ...

    @property
    def webhooks(self) -> WebhookParts: ...

    @property
    def runtime(self) -> Runtime: ...


def parts_of(request: Request) -> Parts:
    return cast(Parts, request.app.state.container)
