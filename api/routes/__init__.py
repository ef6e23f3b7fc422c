"""One module per noun; each holds a `router`. Literal paths come before `{…}` of the same shape."""

from __future__ import annotations

from api.routes import operation, ping

ROUTERS = (operation.router, ping.router)
