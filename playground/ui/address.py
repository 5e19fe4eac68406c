"""Finds the client address of a request. Clearing browser storage makes a new visitor id; the address stays."""

from __future__ import annotations

import os
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import HTTPConnection


def count_proxies() -> int:
    """Returns the number of proxies in front of this server, each of which appends to X-Forwarded-For: PLAYGROUND_PROXIES; one in a Space.
    """
    setting = os.environ.get("PLAYGROUND_PROXIES", "")
    return int(setting) if setting.isascii() and setting.isdigit() else int(bool(os.environ.get("SPACE_ID")))


def address_of(request: HTTPConnection) -> str:
    """Returns the address seen by the outermost proxy, else the socket's peer. Clients can forge the rest of the header."""
    hops = [hop.strip() for line in request.headers.getlist("X-Forwarded-For") for hop in line.split(",")]
    addresses = [*hops, request.client.host if request.client else ""]
    return normalise_address(addresses[-1 - min(count_proxies(), len(hops))])


def normalise_address(host: str) -> str:
    """Returns an IPv6 address's /64 network, which one household shares; IPv4 addresses unchanged, in canonical form."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)
