"""`memlane doctor`."""

from __future__ import annotations


def doctor() -> None:
    """Check every dependency: is it reachable, which version, what to do. Exit code 1 when a required one is broken.

    It looks at the running local stack of MEMLANE_HOME, or at the services that MEMLANE_… variables name.
    """
    from rich.console import Console

    from deploy.cli.checks import all_checks
    from deploy.cli.configuration import join_local_stack, load_settings

    console = Console(soft_wrap=True, highlight=False)
    local = join_local_stack()
    settings = load_settings()
    console.print(
        f"Local stack: {'running in ' + str(settings.home.absolute()) if local else 'not running'}", markup=False
    )
    broken = 0
    for result in all_checks(settings):
        sign = {"ok": "ok     ", "warn": "note   ", "broken": "BROKEN ", "off": "–      "}[result.state]
        console.print(f"{sign} {result.name:<12} {result.detail}", markup=False)
        if result.fix and result.state != "ok":
            console.print(f"{'':21}{result.fix}", markup=False)
        broken += result.state == "broken"
    if broken:
        raise SystemExit(1)
