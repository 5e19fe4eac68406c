"""Plotly without the kinds of traces that no figure of the page uses: less than a third of it is left to be fetched and understood.

Its file holds about 1200 CommonJS modules, one statement each (`var name=W((exports,module)=>{…});`), which run when somebody first
calls `name()`; between them stand ES modules, which are called in the same way. The last module registers every kind of trace. With a
shorter list there, most modules are called by nobody, and are left out.
"""

from __future__ import annotations

import re

TRACES = ("scatter", "bar", "heatmap")  # the types that our figures use; the first one is always in Plotly's core
MODULE = re.compile(r"var ([\w$]+)=W\((?:\([\w$,]*\)|[\w$]+)=>\{")
ES_MODULE = re.compile(r"\b([\w$]+)=Ea\(")  # what runs an ES module
REGISTERED = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\);[\w$]+\.exports=[\w$]+\}\);return ")
NEXT = re.compile(r"\.exports=([\w$]+)\(\)\}|\(([\w$]+)\(\),")  # the module that a module is a name for
CALL = re.compile(r"(?<![\w$.])([\w$]+)\(\)")
BRACKET = re.compile(r"[{}()]")


def reduced(source: str) -> str:
    """Plotly's own file with the traces of TRACES alone. A file that is built in another way comes back as it is."""
    registered = REGISTERED.search(source)
    if not registered:
        return source
    parts = _parts(source)
    wanted = [name for name in CALL.findall(registered[1]) if _kind(parts, name) in TRACES]
    first, *_, last = parts
    parts = {name: text.replace(registered[1], ",".join(f"{name}()" for name in wanted)) for name, text in parts.items()}
    owners = {called: name for name, text in parts.items() for called in _callable(name, text)}
    kept, reached = {first, last}, [parts[first], parts[last]]
    while reached:
        for name in {owners[called] for called in CALL.findall(reached.pop()) if called in owners} - kept:
            kept.add(name)
            reached.append(parts[name])
    return "".join(text for name, text in parts.items() if name in kept)


def _parts(source: str) -> dict[str, str]:
    """The file in pieces, in its order: every module by its name, what stands between them by " " and the name of the module before."""
    starts = [*MODULE.finditer(source)]
    parts = {" ": source[: starts[0].start()]}
    ends = [*(found.start() for found in starts[1:]), len(source)]
    for found, end in zip(starts, ends, strict=True):
        between = _end(source, found.start(), end)
        parts[found[1]], parts[f" {found[1]}"] = source[found.start() : between], source[between:end]
    return parts


def _end(source: str, start: int, stop: int) -> int:
    """Where the statement that begins at `start` is over: when all its brackets are closed. `stop` if that can't be told, since there are
    brackets in its texts: what follows is then taken for a part of it."""
    depth = 0
    for bracket in BRACKET.finditer(source, start, stop):
        depth += 1 if bracket[0] in "({" else -1
        if depth == 0:
            end = bracket.end()
            return end + source.startswith(";", end) if source.endswith("})", start, end) else stop
    return stop


def _callable(name: str, text: str) -> list[str]:
    return ES_MODULE.findall(text) if name.startswith(" ") else [name, *ES_MODULE.findall(text)]


def _kind(parts: dict[str, str], name: str) -> str:
    """The type of the trace that a registered module is; "" for what is none."""
    for _ in range(4):
        if found := re.search(r'moduleType:"trace",name:"(\w+)"', parts[name]):
            return found[1]
        if not (further := NEXT.search(parts[name])):
            return ""
        name = further[1] or further[2]
    return ""
