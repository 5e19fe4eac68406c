"""Where a request comes from. Whoever clears their browser's storage is a new visitor, and still at the same address."""

from __future__ import annotations

import os
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import HTTPConnection


def proxies() -> int:
    """How many proxies stand before this server, each of which adds to X-Forwarded-For who asked it: PLAYGROUND_PROXIES; one in a Space."""
    said = os.environ.get("PLAYGROUND_PROXIES", "")
    return int(said) if said.isascii() and said.isdigit() else int(bool(os.environ.get("SPACE_ID")))


def address_of(request: HTTPConnection) -> str:
    """What the outermost proxy saw; where there is none, the other end of the socket. Anybody may write the rest of the header."""
    hops = [hop.strip() for line in request.headers.getlist("X-Forwarded-For") for hop in line.split(",")]
    seen = [*hops, request.client.host if request.client else ""]
    return household(seen[-1 - min(proxies(), len(hops))])


def household(host: str) -> str:
    """Of a long address the part that belongs to one household; other addresses whole, as all write them."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)
