"""What the HTTP layer needs of a composed process."""

from __future__ import annotations

from typing import Protocol

from core.ports.identity import Authenticator
from core.ports.runtime import Telemetry
from core.settings import Settings


class Parts(Protocol):
    """`core.container.Container` as seen from here; tests of transport hand in less."""

    @property
    def settings(self) -> Settings: ...

    @property
    def authenticator(self) -> Authenticator: ...

    @property
    def telemetry(self) -> Telemetry: ...
