"""Addresses: the one at which other machines of the network reach this server, for the link that a teacher gives to a class; and a
visitor's, which stays when clearing browser storage makes a new visitor id. And Slowloris protection: deadlines for receiving a request and
for the client reading the response; idle connections are closed where there is no room for another."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path

from starlette.requests import HTTPConnection

from playground.config import Refusal
from playground.logs import event
from playground.runs.limits import Limits

log = logging.getLogger(__name__)
MIN_BYTES_PER_S = 8_192  # minimum bytes a second of a long request, such as an upload over a poor connection
KEEP_ALIVE_S = 15  # seconds that a connection stays open for the next request
CLOSING_CONNECTIONS = 100  # connections counted a moment longer, while evicted ones close
EXAMPLE_ADDRESS = ("192.0.2.1", 9)  # reserved for documentation: nothing is sent there, the system only says from which address it would be
PORT, PORT_ATTEMPTS, LAST_PORT = 7860, 100, 65535  # the first port tried, the number of ports tried, the last valid port
CONTAINER = Path("/.dockerenv")  # inside a container the network is not the class's


def server_name(host: str | None = None) -> str:
    """Returns the address to listen at: `host`, GRADIO_SERVER_NAME, or this machine's loopback, which no other machine reaches."""
    return host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"


def choose_port(host: str) -> int:
    """Returns the port named by PORT or GRADIO_SERVER_PORT, else the first free one from 7860 on. Raises Refusal for an invalid or a taken
    one."""
    variable = next((variable for variable in ("PORT", "GRADIO_SERVER_PORT") if os.environ.get(variable)), "")
    if not variable:
        return next((port for port in range(PORT, PORT + PORT_ATTEMPTS) if _is_free(host, port)), PORT)
    text = os.environ[variable].strip()
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LAST_PORT):
        raise Refusal("page.bad_port", name=variable, value=text[:40])
    if not _is_free(host, int(text)):
        raise Refusal("page.port_taken", name=variable, port=text)
    return int(text)


def _is_free(host: str, port: int) -> bool:
    """Whether the port is free there and at localhost, where Gradio looks first."""
    for hostname in {host.strip("[]"), "localhost"}:
        with socket.socket(socket.AF_INET6 if ":" in hostname else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")  # on Windows the option would let two programs listen
            try:
                probe.bind((hostname, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
    return True


def describe_lan(name: str) -> dict[str, str | bool]:
    """Returns whether other machines can reach a server listening at `name`, and at which address ("" if unknown)."""
    listens = not is_loopback(name)
    return {"listens": listens, "address": lan_address() if listens else ""}


def run_link(run: str, base: object) -> str:
    """Returns the page's address for a run."""
    return f"{page_address(base)}?run={run}"


def page_address(base: object) -> str:
    """Returns the page's address. Inside a Space's frame `base`, where the page was found, is not the one that people see."""
    host = list_space_hosts()[0]
    return f"https://{host}/" if host else str(base)


def list_space_hosts() -> list[str]:
    """Returns the names of the Space that this server is: its own, then any custom domain; [""] elsewhere."""
    return os.environ.get("SPACE_HOST", "").split(",")


def is_loopback(name: str) -> bool:
    """Whether a host name means the local machine only."""
    try:
        return name == "localhost" or ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def lan_address() -> str:
    """Returns this machine's IPv4 address in its network; "" without one, or inside a container."""
    return next((candidate for candidate in _addresses() if not is_loopback(candidate)), "") if not CONTAINER.exists() else ""


def _addresses() -> Iterator[str]:
    """Yields the default route's address first, then those of the machine's name, whose lookup is slower."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):  # raised in a network without a default route
        probe.connect(EXAMPLE_ADDRESS)
        yield probe.getsockname()[0]
    with suppress(OSError):  # for a name that doesn't resolve
        yield from socket.gethostbyname_ex(socket.gethostname())[2]


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


def limited_protocol(protocol: type[asyncio.Protocol], limits: Limits) -> type[asyncio.Protocol]:
    """Returns an HTTP protocol of uvicorn's with limits and deadlines."""
    seconds = {name: getattr(limits, name) for name in ("head_seconds", "request_seconds", "unread_seconds")}
    most_address = limits.connections if count_proxies() or is_tunnelled() else limits.connections_address
    return type("Timed", (TimedProtocol, protocol), {**seconds, "open_connections": Connections(limits.connections, most_address)})


class Connections:
    """Open connections, limited per address and in all. Behind a proxy all come from its address."""

    def __init__(self, most: int, most_address: int) -> None:
        self._most, self._most_address = most, most_address
        self._open: dict[TimedProtocol, None] = {}  # oldest first
        self._by_address: defaultdict[Hashable, dict[TimedProtocol, None]] = defaultdict(dict)

    def add(self, connection: TimedProtocol, address: Hashable) -> bool:
        """Adds a connection, aborting the oldest idle one if need be. Returns False without room."""
        for connections, most in ((self._by_address[address], self._most_address), (self._open, self._most)):
            if len(connections) >= most:
                idle = next((candidate for candidate in connections if candidate.is_idle), None)
                if idle is None:
                    return False
                self.remove(idle, idle.address)
                idle.transport.abort()
        self._open[connection] = self._by_address[address][connection] = None
        return True

    def remove(self, connection: TimedProtocol, address: Hashable) -> None:
        """Removes a closed connection."""
        self._open.pop(connection, None)
        self._by_address[address].pop(connection, None)
        if not self._by_address[address]:
            del self._by_address[address]


class TimedProtocol:
    """Mixin before one of uvicorn's HTTP protocols, whose `cycle` is the latest request, None until the first head is complete. `_deadline`
    aborts the connection while a request is incomplete; uvicorn itself limits the time between two requests."""

    open_connections: Connections
    head_seconds: float
    request_seconds: float
    unread_seconds: float
    address: Hashable = ""
    _deadline: asyncio.TimerHandle | None = None
    _write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.address = normalise_address(self.client[0] if self.client else "")
        if not self.open_connections.add(self, self.address):
            return self.transport.abort()
        self._set_deadline(self.head_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self.open_connections.remove(self, self.address)
        self._clear_deadline()
        self.resume_writing()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        was_idle = self.is_idle
        super().data_received(data)
        if not self.is_idle and not self.cycle.more_body:
            self._clear_deadline()
        elif self.is_idle:  # a head has begun: more bytes don't extend its deadline
            if self._deadline is None:
                self._set_deadline(self.head_seconds)
        elif was_idle or self._deadline is None:  # the head is complete
            self._set_deadline(self.request_seconds)
        else:  # a body's bytes extend the deadline, never beyond its maximum: fast bytes buy no silence
            self._set_deadline(min(self._deadline.when() - self.loop.time() + len(data) / MIN_BYTES_PER_S, self.request_seconds))

    def on_response_complete(self) -> None:
        self._clear_deadline()
        super().on_response_complete()
        if not self.is_idle and self.cycle.more_body:  # the next request began to arrive before this response was over
            self._set_deadline(self.request_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_deadline = self._write_deadline or self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_deadline:
            self._write_deadline.cancel()
            self._write_deadline = None

    @property
    def is_idle(self) -> bool:
        """Whether no request with a complete head is being read or answered."""
        return self.cycle is None or self.cycle.response_complete

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(seconds, self._abort_late)

    def _clear_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _abort_late(self) -> None:
        """Aborts the connection, unless the server itself has paused reading."""
        self._deadline = None
        if self.flow.read_paused:
            self._set_deadline(self.request_seconds)
        else:
            self.transport.abort()
