"""One module per noun; each holds a `router`. Literal paths come before `{…}` of the same shape."""

from __future__ import annotations

from api.routes import add, bulk, entities, events, listing, memory, operation, ping, projects, search, webhooks

ROUTERS = (
    operation.router,
    ping.router,
    add.router,
    events.router,
    bulk.router,
    search.router,
    listing.router,
    memory.router,
    entities.router,
    projects.router,
    webhooks.router,
)
