"""From pydantic's list of errors to the one fault that a caller is told: where it is, and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LOCATIONS = ("body", "query", "path", "header")
_KINDS = {
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "a boolean",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Fault:
    """`pointer` names the place as in messages[2].content, and is empty for the whole body."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


def first_fault(errors: Sequence[Any], sent: object = None) -> Fault:
    """The first fault of a request whose body was `sent`, never with the input itself.

    Where several forms are allowed, pydantic tells for each of them why it does not fit, with the form's name in
    the location. What is told is the fault of the form that fits best: of the deepest place, in our own words
    where there are any; and when not even the kind of value fits, all kinds that would.
    """
    place, forms = _place(errors[0], sent)
    if not forms:
        return Fault(pointer_to(place), _words(errors[:1]))
    placed = [(_place(error, sent)[0], error) for error in errors]
    deepest = max((found for found, _ in placed if found[: len(place)] == place), key=len)
    there = [error for found, error in placed if found == deepest]
    own = [error for error in there if error["type"] not in _KINDS]
    return Fault(pointer_to(deepest), _words(own[:1] or there))


def pointer_to(location: Sequence[str | int]) -> str:
    """("body", "messages", 2, "content") → "messages[2].content"."""
    parts = location[1:] if location and location[0] in _LOCATIONS else location
    pointer = ""
    for part in parts:
        pointer += f"[{part}]" if isinstance(part, int) else f".{part}" if pointer else str(part)
    return pointer


def _place(error: Any, sent: object) -> tuple[Place, bool]:
    """Where an error is, without the names of forms, and whether it had any: they are not in what was sent."""
    location: Place = tuple(error["loc"])
    if location[:1] != ("body",):
        return location, False
    here: Any = sent
    place, forms = location[:1], False
    for part in location[1:]:
        if _holds(here, part):
            here = here[part]
        elif error["type"] != "missing":
            forms = True
            continue
        place = (*place, part)
    return place, forms


def _holds(container: Any, part: str | int) -> bool:
    if isinstance(container, list):
        return isinstance(part, int) and part < len(container)
    return isinstance(container, dict) and part in container


def _words(errors: Sequence[Any]) -> str:
    if any(error["type"] not in _KINDS for error in errors):
        return str(errors[0]["msg"]).removeprefix("Value error, ")
    kinds = list(dict.fromkeys(_KINDS[error["type"]] for error in errors))
    if "a number" in kinds and "a whole number" in kinds:
        kinds.remove("a whole number")
    return "must be " + " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
