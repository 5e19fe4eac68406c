"""Finds the client address of a request. Clearing browser storage makes a new visitor id; the address stays."""

from __future__ import annotations

import logging
import os
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import HTTPConnection

from playground.logs import event
from playground.ui.network import is_loopback

log = logging.getLogger(__name__)


def count_proxies() -> int:
    """Returns the number of proxies in front of this server, each of which appends to X-Forwarded-For: PLAYGROUND_PROXIES; one in a Space.
    """
    setting = os.environ.get("PLAYGROUND_PROXIES", "")
    return int(setting) if setting.isascii() and setting.isdigit() else int(bool(os.environ.get("SPACE_ID")))


def is_tunnelled() -> bool:
    """Whether this server has a share link."""
    return os.environ.get("GRADIO_SHARE", "").lower() == "true"


def address_of(request: HTTPConnection) -> str:
    """Returns the address seen by the outermost proxy, else the socket's peer. Clients can forge the rest of the header.

    The tunnel of a share link is a proxy on this machine, which no setting declares.
    """
    hops = [hop.strip() for line in request.headers.getlist("X-Forwarded-For") for hop in line.split(",")]
    peer, proxies = request.client.host if request.client else "", count_proxies()
    if not proxies and hops:
        proxies = int(is_tunnelled() and is_loopback(peer))
        if not proxies:
            _warn_of_proxy()
    return normalise_address([*hops, peer][-1 - min(proxies, len(hops))])


@cache
def _warn_of_proxy() -> None:
    """Logs once that requests come through a proxy that no setting declares: its visitors share the limits of one address."""
    event(log, "proxy_undeclared", logging.WARNING, set="PLAYGROUND_PROXIES")


def normalise_address(host: str) -> str:
    """Returns an IPv6 address's /64 network, which one household shares; IPv4 addresses unchanged, in canonical form."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)
