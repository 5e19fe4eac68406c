"""Calls that no page sends break nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import tests.ui.conftest as ui
from playground.ui.command import ACTIONS
from tests.hostile.attack import Attack
from tests.hostile.people import People, valid_calls
from tests.rights import ROOM, TABLE

site = ui.site
pytestmark = pytest.mark.night
TEXTS = (
    "../../etc/passwd", "%00", "NaN", "1e999", "\x00", "\u202e", "<script>alert(1)</script>", "{{7*7}}", "' or 1=1--", "=1+1", "reverse",
    "http://169.254.169.254/", "file:///etc/passwd", "__class__", "a" * 5000, "[" * 3000,
)  # fmt: skip
NAMES = ("run", "token", "owner", "event_id", "session_hash", "fn_index", "data", "lang", "by", "deep_link", "page", "path", "meta")
HEADERS = {
    "X-Playground-Token": ("", "x" * 500, "ä", "0" * 32, "'", "a,b"),
    "Origin": ("null", "http://[", "https://elsewhere.example", "", "http://a b"),
    "Content-Type": ("", "text/plain", "application/json; charset=latin1", "multipart/form-data", "multipart/form-data; boundary="),
    "Accept-Encoding": ("", "*", "br;q=0", "gzip, br, zstd", "x" * 500), "Accept-Language": ("zh", "*", ";;;", "x" * 2000, "zh;q=a"),
    "Sec-Fetch-Site": ("cross-site", "same-origin", "none", "?"), "X-Forwarded-For": ("1.2.3.4", "::1", "x", ",,,", "1.2.3.4, " * 100),
    "Range": ("bytes=0-1", "bytes=-1", "bytes=9-0", "x"), "Cookie": ("a=b; c", "=" * 100, "session=" + "x" * 1000), "Referer": ("x", ""),
    "Last-Event-ID": ("1", "-1", "x"), "X-Forwarded-Host": ("elsewhere.example", "a:b", "[", "ä"), "X-Forwarded-Proto": ("gopher",),
    "Host": ("", "x:y", "[", "ä"),
    "If-None-Match": ("*",), "If-Modified-Since": ("yesterday",), "Expect": ("100-continue",), "Authorization": ("Basic eA==", "Bearer x"),
    "x-gradio-user": ("api", "x"), "X-HTTP-Method-Override": ("DELETE",), "Upgrade": ("h2c", "websocket"),
}  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "X")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def attack(site) -> Attack:
    people = People.come(site.http.base_url.port)
    return Attack(people.port, valid_calls(people), people)


def test_everything_that_has_a_right_is_called_and_its_owner_answered(attack, site):
    called = ("/command", "/room/{action}", "/run/{api_name}", "/queue/join", "/call/{api_name}", "/call/v2/{api_name}")  # by the names
    names = {*(f"command {name}" for name in ACTIONS), *(f"room {name}" for name in ROOM)}
    names |= {f"{rule.method} {rule.path}" for rule in TABLE.rules if not rule.path.endswith(called)}
    assert names - set(attack.calls) == set()
    dependencies = site.http.get("/config").json()["dependencies"]
    listeners = {event["api_name"].rstrip("_0123456789") for event in dependencies if event["backend_fn"]}
    assert {name for name in listeners if not {f"listener {name}", f"endpoint {name}"} & set(attack.calls)} == set()
    with ThreadPoolExecutor(16) as pool:
        findings = list(pool.map(lambda call: attack.judged(replace(call, who="nobody")), attack.calls.values()))
    assert [finding.detail for finding in findings if finding.fault and finding.fault != "slow"] == []
    assert all(200 <= finding.status < 500 for finding in findings if finding.fault != "slow"), "slow is the machine"


def put(body, path, value):
    if not path:
        return value
    copy = body.copy()
    copy[path[0]] = put(body[path[0]], path[1:], value)
    return copy


def places(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in inner for place in places(child, (*path, key)))]


@st.composite
def changed(draw, call, ids):
    """The call, changed in one to three ways that no page would; most often in its body, which is what most of our own reading is about."""
    for _ in range(draw(st.integers(1, 3))):
        value, name = draw(VALUES | st.sampled_from(ids)), draw(st.sampled_from(NAMES) | st.text(max_size=5))
        text = value if isinstance(value, str) else json.dumps(value)
        parts, header = call.path.split("/"), draw(st.sampled_from(sorted(HEADERS)))
        at = draw(st.integers(1, len(parts)))
        changes = {
            "query": call.query | {name: text},
            "path": "/".join([*parts[:at], text.replace("\x00", "%00"), *parts[at + 1 :]]),
            "headers": call.headers | {header: draw(st.sampled_from(HEADERS[header]))},
            "method": draw(st.sampled_from(METHODS)),
            "who": draw(st.sampled_from(("nobody", "stranger", "student", "removed"))),
            "body": (call.content or b"")[: draw(st.integers(0, 100))] * 2,
        }
        if isinstance(call.body, dict | list) and draw(st.integers(0, 6)):
            more = [call.body | {name: value}] if isinstance(call.body, dict) else []
            changes["body"] = draw(st.sampled_from([put(call.body, draw(st.sampled_from(places(call.body))), value), *more]))
        part = draw(st.sampled_from([*changes, *["body"] * 5]))
        call = replace(call, **{part: changes[part]})
    return call


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_many_of_them_break_nothing(attack, data):
    call = attack.calls[data.draw(st.sampled_from(sorted(attack.calls)))]
    finding = attack.judged(data.draw(changed(call, attack.ids)))
    assert finding.fault in ("", "slow"), finding.detail
