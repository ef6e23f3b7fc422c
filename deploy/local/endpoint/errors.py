"""Refusals, in the words and with the status codes of Qdrant's REST API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refused(Exception):
    """The request can't be carried out; `status` is the HTTP status, the text goes to `status.error`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def wrong_input(message: str) -> Refused:
    return Refused(400, f"Wrong input: {message}")


def no_collection(name: str) -> Refused:
    return Refused(404, f"Not found: Collection `{name}` doesn't exist!")


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn what Edge raises into a Refused: bad values 400, a missing point 404, its own trouble 500."""
    try:
        yield
    except Refused:
        raise
    except (TypeError, ValueError, OverflowError) as error:  # a value the binding can't convert
        raise wrong_input(str(error).partition("\n")[0]) from error
    except Exception as error:  # the binding raises bare Exception for everything the engine refuses
        message = str(error)
        if message.startswith("No point with id"):
            raise Refused(404, f"Not found: {message}") from error
        if message.startswith("Service"):
            raise Refused(500, message) from error
        raise wrong_input(message) from error
