"""Shrinks Plotly's file to the trace types that the page's figures use: less than a third is left to download and parse.

The file holds about 1200 CommonJS modules, one statement each (`var name=W((exports,module)=>{…});`), which run at the first call of
`name()`; between them are ES modules, called alike. The last module registers all trace types. With a shorter list there, most modules are
unreachable, and are dropped (tree shaking).
"""

from __future__ import annotations

import re

TRACES = ("scatter", "bar", "heatmap")  # trace types of our figures; the first is always in Plotly's core
MODULE = re.compile(r"var ([\w$]+)=W\((?:\([\w$,]*\)|[\w$]+)=>\{")
ES_MODULE = re.compile(r"\b([\w$]+)=Ea\(")  # runs an ES module
REGISTERED = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\);[\w$]+\.exports=[\w$]+\}\);return ")
NEXT = re.compile(r"\.exports=([\w$]+)\(\)\}|\(([\w$]+)\(\),")  # the module that a module re-exports
CALL = re.compile(r"(?<![\w$.])([\w$]+)\(\)")
BRACKET = re.compile(r"[{}()]")


def shake_tree(source: str) -> str:
    """Returns Plotly's file with the traces of TRACES only; unchanged if its build has another structure."""
    registered = REGISTERED.search(source)
    if not registered:
        return source
    parts = _split_modules(source)
    traces = [name for name in CALL.findall(registered[1]) if _trace_type(parts, name) in TRACES]
    first, *_, last = parts
    parts = {name: text.replace(registered[1], ",".join(f"{name}()" for name in traces)) for name, text in parts.items()}
    owners = {called: name for name, text in parts.items() for called in _callable_names(name, text)}
    included, pending = {first, last}, [parts[first], parts[last]]
    while pending:
        for name in {owners[called] for called in CALL.findall(pending.pop()) if called in owners} - included:
            included.add(name)
            pending.append(parts[name])
    return "".join(text for name, text in parts.items() if name in included)


def _split_modules(source: str) -> dict[str, str]:
    """Splits the file in order: each module by name, and the text after it by " " and its name."""
    starts = [*MODULE.finditer(source)]
    parts = {" ": source[: starts[0].start()]}
    ends = [*(start.start() for start in starts[1:]), len(source)]
    for start, end in zip(starts, ends, strict=True):
        between = _find_end(source, start.start(), end)
        parts[start[1]], parts[f" {start[1]}"] = source[start.start() : between], source[between:end]
    return parts


def _find_end(source: str, start: int, stop: int) -> int:
    """Returns the end of the statement at `start`, where its brackets are balanced; `stop` where brackets in strings hide it: the text up
    to there then counts as part of it."""
    depth = 0
    for bracket in BRACKET.finditer(source, start, stop):
        depth += 1 if bracket[0] in "({" else -1
        if depth == 0:
            end = bracket.end()
            return end + source.startswith(";", end) if source.endswith("})", start, end) else stop
    return stop


def _callable_names(name: str, text: str) -> list[str]:
    return ES_MODULE.findall(text) if name.startswith(" ") else [name, *ES_MODULE.findall(text)]


def _trace_type(parts: dict[str, str], name: str) -> str:
    """Returns the trace type that a registered module defines; "" for none."""
    for _ in range(4):
        if trace := re.search(r'moduleType:"trace",name:"(\w+)"', parts[name]):
            return trace[1]
        if not (reexport := NEXT.search(parts[name])):
            return ""
        name = reexport[1] or reexport[2]
    return ""
