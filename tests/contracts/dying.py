"""A worker's death within the test's own process: an exception at a crash point that nothing catches."""

from __future__ import annotations

from collections.abc import Callable

from core.services.crash_points import CrashPoints


class Died(BaseException):
    """The process is gone; nothing may catch this."""


class Armed(CrashPoints):
    """Runs `then` the n-th time a point is reached, once."""

    def __init__(self) -> None:
        super().__init__()
        self.point, self.left = "", 0
        self.then: Callable[[], None] = self.die

    def arm(self, point: str, number: int, then: Callable[[], None] | None = None) -> None:
        self.point, self.left, self.then = point, number, then or self.die

    def disarm(self) -> bool:
        """Whether it had gone off."""
        gone_off, self.left = self.left == 0, 0
        return gone_off

    def reach(self, name: str) -> None:
        if name == self.point and self.left > 0:
            self.left -= 1
            if self.left == 0:
                self.then()

    @staticmethod
    def die() -> None:
        raise Died
