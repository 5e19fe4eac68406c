"""The address that a teacher gives to a class."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

import pytest

from playground.ui import network


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine(way=…, named=…): a machine with these addresses, None where the system refuses to say."""

    def be(way: str | None = None, named: Sequence[str] | None = None) -> None:
        class Way(socket.socket):
            def connect(self, to: object) -> None:
                if way is None:
                    raise OSError("Network is unreachable")

            def getsockname(self) -> tuple[str, int]:
                return way, 5

        def by_name(name: str) -> tuple[str, list, Sequence[str]]:
            if named is None:
                raise socket.gaierror("Name or service not known")
            return name, [], named

        monkeypatch.setattr(network.socket, "socket", Way)
        monkeypatch.setattr(network.socket, "gethostbyname_ex", by_name)
        monkeypatch.setattr(network, "CONTAINER", tmp_path / "none")

    return be


@pytest.mark.parametrize(
    ("way", "named", "address"),
    [
        ("192.168.1.7", ["127.0.1.1"], "192.168.1.7"),
        (None, ["127.0.1.1", "10.0.0.4"], "10.0.0.4"),  # a network without a way out
        ("127.0.0.1", ["127.0.1.1"], ""),
        (None, None, ""),
    ],
)
def test_the_address_in_the_network_is_the_one_that_leads_out(machine, way, named, address):
    machine(way, named)
    assert network.address() == address


def test_the_address_of_a_container_is_none_that_a_class_could_open(machine, tmp_path, monkeypatch):
    machine("172.17.0.2")
    monkeypatch.setattr(network, "CONTAINER", tmp_path)
    assert network.lan("0.0.0.0") == network.lan("0.0.0.0") | {"listens": True, "address": ""}


@pytest.mark.parametrize("name", ["127.0.0.1", "127.4.5.6", "localhost", "::1", "[::1]"])
def test_who_listens_to_this_machine_alone_has_no_address_for_others(machine, name):
    machine("192.168.1.7")
    told = network.lan(name)
    assert not told["listens"]
    assert told["address"] == ""


@pytest.mark.parametrize("name", ["0.0.0.0", "::", "192.168.1.7", "teacher.local"])
def test_who_listens_to_all_has_an_address_for_others(machine, name):
    machine("192.168.1.7")
    assert network.lan(name) == {"listens": True, "address": "192.168.1.7", "windows": os.name == "nt"}


def test_the_server_listens_where_it_is_told_to(monkeypatch):
    monkeypatch.delenv("GRADIO_SERVER_NAME", raising=False)
    assert network.server_name() == "127.0.0.1"
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    assert network.server_name() == "0.0.0.0"
    assert network.server_name("::1") == "::1"


def test_only_whoever_sits_at_the_machine_is_told_its_address(site):
    """A visitor of the public page learns nothing of the network behind it."""
    here = site.get("boot").json()["lan"]
    assert not here["listens"]
    there = site.http.get("/gradio_api/playground/boot", headers={"Host": "playground.example.org"}).json()["lan"]
    assert there == {"listens": True, "address": "", "windows": False}
