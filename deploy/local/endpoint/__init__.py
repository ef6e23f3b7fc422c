"""A loopback HTTP server over Qdrant Edge that speaks the part of Qdrant's REST protocol used here.

Edge is Qdrant's embedded engine: one folder per collection, one process per folder. This package lets
several processes (API, workers) share it through the unmodified `qdrant-client`. It holds no logic of its
own: it checks requests, hands them to the engine and renders the answers. What the engine's Python binding
does not check is checked here, because some bad input makes it panic and leaves a folder that can't be opened.

Every Edge call holds the interpreter lock from start to end, so threads would gain nothing: calls run one
after the other on the event loop, and need no locks. `optimize()` is never called (it would block everybody
for minutes); searches are exact scans over the filtered points.
"""
