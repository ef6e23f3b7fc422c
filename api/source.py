"""Which program sends a request: a word in the body, the query or a header."""

from __future__ import annotations

from starlette.requests import Request

KNOWN = (
    "API",
    "CLI",
    "CLAUDE_CODE",
    "CODEX",
    "CURSOR",
    "MCP",
    "N8N",
    "OPENCLAW",
    "OPENCODE",
    "PI",
    "STRANDS",
    "VERCEL",
    "ZAPIER",
)
OTHERS = "OTHERS"


def source_of(request: Request, in_body: str | None = None) -> str | None:
    """The first that is given; a word that is not known becomes OTHERS, since it would be free text."""
    headers = request.headers
    given = (
        in_body or request.query_params.get("source") or headers.get("x-mem0-source") or headers.get("x-application")
    )
    if not given:
        return None
    word = given.strip().upper().replace("-", "_")
    return word if word in KNOWN else OTHERS
