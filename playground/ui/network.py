"""Where other machines of the same network find this server: for the link that a teacher gives to a class."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from playground.config import Refusal

ELSEWHERE = ("192.0.2.1", 9)  # kept free for examples: nothing is sent there, the system only says from which address it would be
PORT, PORTS, LAST_PORT = 7860, 100, 65535  # the first that is tried, how many are, and the last there is
CONTAINER = Path("/.dockerenv")  # inside of which the network is not the one that the class is in


def server_name(host: str | None = None) -> str:
    """The address at which the server listens: `host`, or what GRADIO_SERVER_NAME says, or this machine's own, which no other reaches."""
    return host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"


def port_for(host: str) -> int:
    """The port that PORT or GRADIO_SERVER_PORT names; else the first from 7860 on that no other program has. Raises Refusal for one that is
    no port or is taken."""
    name = next((name for name in ("PORT", "GRADIO_SERVER_PORT") if os.environ.get(name)), "")
    if not name:
        return next((port for port in range(PORT, PORT + PORTS) if _is_free(host, port)), PORT)
    said = os.environ[name].strip()
    if not (said.isascii() and said.isdigit() and 0 < int(said) <= LAST_PORT):
        raise Refusal("page.bad_port", name=name, value=said[:40])
    if not _is_free(host, int(said)):
        raise Refusal("page.port_taken", name=name, port=said)
    return int(said)


def _is_free(host: str, port: int) -> bool:
    """Whether one can listen there, and at this machine's own name, where Gradio looks first."""
    for one in {host.strip("[]"), "localhost"}:
        with socket.socket(socket.AF_INET6 if ":" in one else socket.AF_INET) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")  # Windows means by it that two may listen
            try:
                tried.bind((one, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
    return True


def lan(name: str) -> dict[str, str | bool]:
    """What to tell whoever has opened the page on the very machine that listens at `name`: whether others can reach it, at which address
    ("" when nobody knows), and whether it is Windows, where the command that makes it listen is another."""
    listens = not is_own(name)
    return {"listens": listens, "address": address() if listens else "", "windows": os.name == "nt"}


def link_to(run: str, base: object) -> str:
    """Where the page shows a run. Inside a Space's frame `base`, at which the page was found, is not the address that people see."""
    host = os.environ.get("SPACE_HOST")
    return f"{f'https://{host}/' if host else base}?run={run}"


def is_own(name: str) -> bool:
    """Whether a host's name means the machine that says it, and no other reaches it there."""
    try:
        return name == "localhost" or ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def address() -> str:
    """This machine's IPv4 address in its network; "" where there is none, or another than the class's."""
    return next((found for found in _addresses() if not is_own(found)), "") if not CONTAINER.exists() else ""


def _addresses() -> Iterator[str]:
    """First that of the way out, then those that belong to the machine's name, which takes longer to find out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way, suppress(OSError):  # raised in a network without a way out
        way.connect(ELSEWHERE)
        yield way.getsockname()[0]
    with suppress(OSError):  # for a name that nobody knows
        yield from socket.gethostbyname_ex(socket.gethostname())[2]
