"""Where somebody asks from: only proxies of our own are believed."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from playground.ui.address import address_of, proxies


def asked(host: str, *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    return Request({"type": "http", "headers": headers, "client": (host, 5)})


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("PLAYGROUND_PROXIES", "SPACE_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("host", "forwarded", "count", "address"),
    [
        ("192.0.2.7", [], "", "192.0.2.7"),
        ("192.0.2.7", ["198.51.100.1"], "", "192.0.2.7"),  # anybody can say so
        ("192.0.2.7", ["198.51.100.1"], "0", "192.0.2.7"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], "1", "198.51.100.1"),  # what our proxy added last
        ("10.0.0.1", ["6.6.6.6", "198.51.100.1"], "1", "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1, 10.0.0.9"], "2", "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1"], "3", "198.51.100.1"),  # fewer than there should be
        ("10.0.0.1", [], "1", "10.0.0.1"),  # past the proxy
        ("192.0.2.7", ["198.51.100.1"], "-1", "192.0.2.7"),
        ("2001:db8::1", [], "", "2001:db8::/64"),
        ("::ffff:192.0.2.7", [], "", "192.0.2.7"),
        ("testclient", [], "", "testclient"),
    ],
)
def test_where_somebody_asks_from(monkeypatch, host, forwarded, count, address):
    monkeypatch.setenv("PLAYGROUND_PROXIES", count)
    assert address_of(asked(host, *forwarded)) == address


def test_in_a_space_there_is_one_proxy(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "ada/playground")
    assert proxies() == 1
    monkeypatch.setenv("PLAYGROUND_PROXIES", "2")
    assert proxies() == 2
