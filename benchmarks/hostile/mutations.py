"""How a valid call is changed: one or several of these at a time, drawn by a generator of the call's own, so that a number says which."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.hostile.valid import Call

LONG = "a" * 5000
TEXTS = (
    "", " ", "0", "-1", "null", "NaN", "1e999", "true", "[]", "{}", "../../etc/passwd", "%00", "\x00", "\n\r", "a\nb", "\ud800", "\u202e",
    "🙂", "ǅ", "１２", "<script>alert(1)</script>", "{{7*7}}", "${7*7}", "' or 1=1--", "=1+1", "http://169.254.169.254/", "file:///etc/passwd",
    "C:\\x", "__class__", "constructor", "german_english", "reverse", "x" * 32, LONG,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 63.7, 1e308, -1e308, 2**31, 2**63, 10**30, 1e-320, 10**6, float("nan"), float("inf"), -0.0)
OTHERS = (None, True, False, [], {}, [[]], [None] * 50, {"": None}, {"a": {"b": []}}, ["a", 1], {"path": "/etc/passwd"},
          {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}, {"__type__": "update", "value": 1})  # fmt: skip
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


def mutated(calls: dict[str, Call], number: int, seed: int, ids: tuple[str, ...] = ()) -> Call:
    """The call of that number; `ids` are of things of others."""
    draw = random.Random(f"{seed} {number}")
    call = calls[draw.choice(sorted(calls))]
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        ways = (*INSIDE, *AROUND) if isinstance(call.body, dict | list) else AROUND
        call = draw.choice(ways)(call, draw, ids)
    return call


def _value(draw: random.Random, ids: tuple[str, ...], now: Any = None) -> Any:
    made = draw.randrange(6)
    if made == 0 and ids:
        return draw.choice(ids)
    if made == 1:
        return draw.choice(NUMBERS)
    if made == 2:
        return draw.choice(OTHERS)
    if made == 3 and isinstance(now, str):
        return now + draw.choice(TEXTS)
    if made == 4:
        return _nested(draw.choice((5, 30, 200)))
    return draw.choice(TEXTS)


def _nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


def _places(value: Any, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in _places(one, (*path, key)))]


def _body_value(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    body = copy.deepcopy(call.body)
    *way, last = draw.choice(_places(body)) or (None,)
    if last is None:
        return replace(call, body=_value(draw, ids))
    at = body
    for key in way:
        at = at[key]
    if draw.random() < 0.2:
        del at[last]
    else:
        at[last] = _value(draw, ids, at[last])
    return replace(call, body=body)


def _body_more(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    if isinstance(call.body, dict):
        name = draw.choice(("run", "token", "owner", "batched", "event_id", "session_hash", "fn_index", "data", "lang", draw.choice(TEXTS)))
        return replace(call, body=call.body | {name: _value(draw, ids)})
    return replace(call, body=[*call.body, _value(draw, ids)])


def _body_bytes(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    """Cut off, with a byte changed, twice, or in another encoding."""
    content = _json(call.body)
    at = draw.randrange(len(content) or 1)
    byte = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
    changed = (content[:at], byte, content * 2, content.decode().encode("utf-16"))
    return replace(call, body=draw.choice((*changed, b"", b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe" + content, b"9" * 5000)))


def _json(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def _query(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    names = [*call.query, "lang", "run", "by", "deep_link", "page", draw.choice(TEXTS)]
    value = _value(draw, ids)
    text = (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")
    return replace(call, query=call.query | {draw.choice(names).encode("utf-8", "replace").decode(): text})


def _path(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    parts = call.path.split("/")
    at = draw.randrange(1, len(parts))
    other = draw.choice((*ids, *TEXTS)).encode("utf-8", "replace").decode().replace("\x00", "%00")
    ways = ([*parts[:at], other, *parts[at + 1 :]], [*parts, other], parts[:at], [*parts[:at], "", *parts[at:]], [*parts, ""])
    return replace(call, path="/".join(draw.choice(ways)) or "/")


def _header(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    name = draw.choice(sorted(HEADERS))
    return replace(call, headers=call.headers | {name: draw.choice(HEADERS[name])})


def _method(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    return replace(call, method=draw.choice(METHODS))


def _person(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    return replace(call, who=draw.choice(("nobody", "stranger", "student", "removed")))


Way = Callable[[Call, random.Random, tuple[str, ...]], Call]
AROUND: tuple[Way, ...] = (_query, _path, _header, _method, _person)
INSIDE: tuple[Way, ...] = (*[_body_value] * 6, _body_more, _body_bytes)  # what a body says is what most of our own reading is about
