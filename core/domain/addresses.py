"""Which addresses the server may connect to on behalf of a caller: an own deny list (RFC 6890).

The standard library's `is_global` calls several internal and tunnelled ranges global, so it is not used.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Literal
from urllib.parse import SplitResult, urlsplit

Allow = Literal["none", "loopback", "private"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_DENIED = [
    ipaddress.ip_network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16"),
        *("3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
]
_LOOPBACK = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
_PRIVATE = [ipaddress.ip_network(b) for b in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".onion", ".lan", ".corp", ".intranet")
_PORTS = {"http": (80, 8080), "https": (443, 8443)}
MOST_CHARACTERS = 2048


class NotAllowed(Exception):
    """The address or URL may not be fetched. The text is the same for all: it tells a prober nothing."""

    def __init__(self) -> None:
        super().__init__("This URL is not allowed as an endpoint.")


def canonical_address(text: str) -> Address:
    """Parse, and unmap ::ffff:a.b.c.d to the IPv4 address that it reaches. Raises ValueError."""
    address = ipaddress.ip_address(text.split("%", 1)[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address


def address_allowed(text: str, allow: Allow) -> bool:
    try:
        address = canonical_address(text)
    except ValueError:
        return False
    if allow != "none" and _within(address, _LOOPBACK):
        return True
    if allow == "private" and _within(address, _PRIVATE):
        return True
    return not _within(address, _DENIED)


def _within(address: Address, networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def checked_url(url: str, allow: Allow) -> SplitResult:
    """The parts of a URL that may be looked up: http(s), a usual port, no credentials, a plain host name.

    `allow` other than none opens every port and plain http on the addresses it names; whether the host
    resolves to one of them is checked at each connection (adapters/guarded_fetch.py). Raises NotAllowed.
    """
    if not 0 < len(url) <= MOST_CHARACTERS or any(ord(c) <= 32 or ord(c) == 127 or c == "\\" for c in url):
        raise NotAllowed
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise NotAllowed from error
    if parts.scheme not in _PORTS or parts.username is not None or parts.password is not None or parts.fragment:
        raise NotAllowed
    host = parts.hostname or ""
    if not host or "@" in parts.netloc or not _host_allowed(host, allow):
        raise NotAllowed
    if allow == "none" and port is not None and port not in _PORTS[parts.scheme]:
        raise NotAllowed
    return parts


def _host_allowed(host: str, allow: Allow) -> bool:
    """A literal address is judged here; a name must be ASCII, dotted, and not one of the local kinds."""
    if ":" in host:
        return address_allowed(host, allow)
    if not host.isascii():
        return False
    name = host.rstrip(".").lower()
    if _numeric(name):
        return address_allowed(name, allow)
    if name == "localhost" or name.endswith(_LOCAL_NAMES):
        return allow != "none" and name == "localhost"
    return (
        ("." in name or allow == "private")
        and len(name) <= 253
        and all(0 < len(label) <= 63 for label in name.split("."))
    )


def _numeric(name: str) -> bool:
    """Whether a resolver could read the name as an address: 127.1, 2130706433, 0x7f.1, 0177.0.0.1."""
    last = name.rsplit(".", 1)[-1]
    return last.isdigit() or last.startswith("0x")
