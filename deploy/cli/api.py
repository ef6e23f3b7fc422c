"""`memlane api`."""

from __future__ import annotations

from typing import Annotated

import typer


def api(
    host: Annotated[str | None, typer.Option(help="Address to listen on [MEMLANE_HOST].")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on [MEMLANE_PORT].")] = None,
    fd: Annotated[int | None, typer.Option(help="An inherited listening socket to use instead.", hidden=True)] = None,
) -> None:
    """Serve the HTTP API.

    It accepts adds as long as the database is reachable; the broker, the index and the workers may be down meanwhile.
    """
    import uvicorn

    from api.main import app_factory
    from core.container import SettingsError
    from deploy.cli.configuration import load_settings
    from deploy.local.failure import StackFailure
    from deploy.local.ports import adopt, listen

    settings = load_settings()
    listener = adopt(fd) if fd is not None else listen(host or settings.host, settings.port if port is None else port)
    try:
        app = app_factory()
    except SettingsError as error:
        raise StackFailure(str(error), "Run `memlane settings` to see what is set.") from error
    config = uvicorn.Config(
        app,
        log_config=None,  # one wide line per request is the app's own
        access_log=False,
        timeout_graceful_shutdown=10,
        timeout_keep_alive=65,  # longer than the usual 60 s of load balancers, which then close first
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
