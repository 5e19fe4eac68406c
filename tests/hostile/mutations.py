"""How a valid call is changed: one or several of these at a time, drawn by a generator of the call's own, so that a number says which."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import Any

from tests.hostile.valid import Call

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
        has_body = isinstance(call.body, dict | list)  # what a body says is what most of our own reading is about
        change = draw.choice((_body_value,) * 7 + (_body_bytes,) + (_around,) * 5) if has_body else _around
        call = change(call, draw, ids)
    return call


def _value(draw: random.Random, ids: tuple[str, ...], now: Any = None) -> Any:
    nested: Any = 1
    for _ in range(draw.choice((5, 30, 200))):
        nested = [nested]
    text = draw.choice(TEXTS)
    return draw.choice((draw.choice(ids or TEXTS), draw.choice(NUMBERS), draw.choice(OTHERS), f"{now}{text}", nested, text))


def _places(value: Any, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner_value in inner for place in _places(inner_value, (*path, key)))]


def _body_value(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    """Changes, removes or adds a value somewhere."""
    body = copy.deepcopy(call.body)
    *way, last = draw.choice(_places(body)) or (None,)
    if last is None:
        names = ("run", "token", "owner", "batched", "event_id", "session_hash", "fn_index", "data", "lang", draw.choice(TEXTS))
        more = body | {draw.choice(names): _value(draw, ids)} if isinstance(body, dict) else [*body, _value(draw, ids)]
        return replace(call, body=draw.choice((more, _value(draw, ids))))
    at = body
    for key in way:
        at = at[key]
    if draw.random() < 0.2:
        del at[last]
    else:
        at[last] = _value(draw, ids, at[last])
    return replace(call, body=body)


def _body_bytes(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    """Cut off, with a byte changed, twice, or in another encoding."""
    content = call.content or b""
    at = draw.randrange(len(content) or 1)
    byte = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
    changed = (content[:at], byte, content * 2, content.decode("latin1").encode("utf-16"))
    return replace(call, body=draw.choice((*changed, b"", b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe" + content, b"9" * 5000)))


def _around(call: Call, draw: random.Random, ids: tuple[str, ...]) -> Call:
    """Changes the query, the path, a header, the method or the caller."""
    value, header = _value(draw, ids), draw.choice(sorted(HEADERS))
    text = (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")
    name = draw.choice([*call.query, "lang", "run", "by", "deep_link", "page", draw.choice(TEXTS)]).encode("utf-8", "replace").decode()
    parts = call.path.split("/")
    at, other = draw.randrange(1, len(parts)), draw.choice((*ids, *TEXTS)).encode("utf-8", "replace").decode().replace("\x00", "%00")
    paths = ([*parts[:at], other, *parts[at + 1 :]], [*parts, other], parts[:at], [*parts[:at], "", *parts[at:]], [*parts, ""])
    changes = (
        {"query": call.query | {name: text}}, {"path": "/".join(draw.choice(paths)) or "/"}, {"method": draw.choice(METHODS)},
        {"headers": call.headers | {header: draw.choice(HEADERS[header])}},
        {"who": draw.choice(("nobody", "stranger", "student", "removed"))},
    )  # fmt: skip
    return replace(call, **draw.choice(changes))
