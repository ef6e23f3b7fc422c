"""One module per noun; each holds a `router`. Literal paths come before `{…}` of the same shape."""

from __future__ import annotations

from api.routes import add, bulk, entities, events, memory, operation, ping

ROUTERS = (
    operation.router,
    ping.router,
    add.router,
    events.router,
    bulk.router,
    memory.router,
    entities.router,
)
