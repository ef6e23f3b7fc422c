"""Results that are kept by text, for texts that come again: within a bound in bytes, not only in number."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LONGEST = 1_000  # characters: longer texts are rare, and each would weigh as much as hundreds of others


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Keeps the last `most` results of a function of a text (and more that is hashable), of texts up to LONGEST."""

    def keeping(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if len(text) > LONGEST:
                return function(text, *args, **kwargs)
            return kept(text, *args, **kwargs)  # type: ignore[arg-type]  # hashable, as the docstring asks

        return call

    return keeping
