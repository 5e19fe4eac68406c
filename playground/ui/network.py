"""Finds the address at which other machines of the network reach this server: for the link that a teacher gives to a class."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from playground.config import Refusal

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
    """Returns the page's address for a run. Inside a Space's frame `base`, where the page was found, is not the address that people see."""
    host = os.environ.get("SPACE_HOST")
    return f"{f'https://{host}/' if host else base}?run={run}"


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
