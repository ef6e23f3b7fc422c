"""`python -m deploy.docker.answers URL`: exit 0 when URL answers 200 within 4 s; for health checks in the image."""

from __future__ import annotations

import sys

from deploy.local.readiness import get

_SECONDS = 4.0


def main(url: str) -> int:
    status, body = get(url, timeout=_SECONDS)
    if status == 200:
        return 0
    sys.stderr.write(f"{url} answered {status or 'nothing'}: {body[:200]}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
