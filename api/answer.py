"""The one JSON response of this API: UTF-8, no whitespace, times as ISO 8601 in UTC."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import JSONResponse


class Answer(JSONResponse):
    """Renders dicts, lists, UUIDs, dates and aware datetimes (`…+00:00`)."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)
