"""Finds text that people would read in the code itself: in Python by its syntax tree, in the page's scripts by their literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

PROSE = re.compile(r"[A-Za-z’']{2,}[,.:;!?]? +[A-Za-z’']{2,}|[\u3400-\u9fff]|^\s*[A-Z][a-z’']+[.:!?]?\s*$")  # two words, one 字, or a Word
WORD = re.compile(r"^(?!\w+_\w+$|#[0-9a-f]+$).*[A-Za-z]{2,}", re.DOTALL)  # where text is shown: any word, but no key and no colour
SHOWN = {"title", "label", "text", "caption", "hint", "placeholder", "alt", "aria-label", "textContent", "innerText"}
ATTRIBUTE = re.compile(r"\b(?:title|aria-label|alt|placeholder)=[\"']([^\"']*)")
HOLE = "\0"  # where a value goes
UNIT = re.compile(rf"{HOLE} [A-Za-z]+\b|\b[A-Za-z]+ {HOLE}")  # a word beside a value


def texts_of(markup: str) -> Iterator[str]:
    """What a person would read of a piece of HTML (or of a text without any)."""
    yield from ATTRIBUTE.findall(markup)
    yield from re.split(rf"<[^<>]*>|^[^<]*=\"[^\"]*\"[^<>]*>|<[^<>]*$|{HOLE}", markup)


# ---- Python --------------------------------------------------------------------------------------------------------------------------

# Calls whose strings nobody reads on the page: a log, another language's code, a name by which something is kept or looked up.
UNREAD = re.compile(
    r"^(log\.\w+|warnings\.\w+|re\.\w+|TypeVar|reader\.work|self\.remember|os\.environ\.\w+|\w*Error|KeyError|logging\.\w+)$"
)
UNREAD_ROLES = ("css", "js", "class")


def in_python(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every literal that looks like something to be read, but docstrings and the arguments of UNREAD calls."""
    tree = ast.parse(source)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not isinstance(above[node], (ast.JoinedStr, ast.Expr)):
            text = node.value
        else:
            continue
        if not _unread(node, above) and _strays(text, _role(node, above[node])):
            yield node.lineno, text


def _strays(text: str, role: str) -> bool:
    if UNIT.search(re.sub(r"<[^<>]*>", "", text)):
        return True
    return any(PROSE.search(one) or (role in SHOWN and WORD.search(one)) for one in texts_of(text))


def _role(node: ast.AST, parent: ast.AST) -> str:
    """The keyword or the key that a literal is the value of."""
    if isinstance(parent, ast.keyword):
        return parent.arg or ""
    if isinstance(parent, ast.Dict) and node in parent.values:
        key = parent.keys[parent.values.index(node)]
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
    return ""


def _unread(node: ast.AST, above: dict) -> bool:
    while not isinstance(node, ast.stmt):
        if (isinstance(node, ast.Call) and UNREAD.match(ast.unparse(node.func))) or _role(node, above[node]) in UNREAD_ROLES:
            return True
        node = above[node]
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", *UNREAD_ROLES)


# ---- the page's scripts --------------------------------------------------------------------------------------------------------------

# What stands before a literal that is another language: classes, styles, selectors, drawing, and names of attributes and of events.
CODE = re.compile(
    r"(?:class\w*|style|cssText|d|viewBox|cache|transform|font\w*|\"?stroke[\w-]*\"?|autocomplete|rel|media|fillStyle)\s*(?:\+?=|:)\s*$"
    r"|(?:querySelector(?:All)?|closest\??\.?|matches|getElementById|setProperty|createElementNS?|getContext|addEventListener|RegExp|Error|matchMedia|import"
    r"|classList\.\w+|from|[gs]etAttribute|localStorage\.\w+|sessionStorage\.\w+|hasAttribute)\s*\(?\s*$"
)
ROLE = re.compile(r"[\"']?([\w-]+)[\"']?\s*(?:=|:|\?\?=)\s*(?:[^,;{}()]*\?\s*)?$")  # title: …, textContent = …, title: some ? …
CHILD = re.compile(r"\bh\(\s*$|\}\s*,\s*$")  # h("b", {}, "…")
BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[!&|?{};+\n]|\breturn|=>)\s*$")


def in_script(source: str) -> Iterator[tuple[int, str]]:
    """The same of JavaScript: strings, and templates whose ${holes} are looked into as well."""
    for at, text in literals(source):
        before = source[max(0, at - 120) : at].rpartition("\n")[2] or source[max(0, at - 120) : at]
        key = re.search(r"[{,]\s*$", before) and re.match(r"([\"'])(?:\\.|(?!\1).)*\1\s*:", source[at:])
        if CODE.search(before) or key:
            continue
        role = ROLE.search(before)
        shown = bool(role and role[1] in SHOWN) or bool(re.search(r"\}\s*,\s*$", before))
        if _strays(text, "text" if shown else ""):
            yield source.count("\n", 0, at) + 1, text


def literals(source: str, at: int = 0, inside: bool = False) -> Iterator[tuple[int, str]]:
    """(place, text) of every literal. `inside` a template's ${hole} it ends with the hole, whose end it returns."""
    depth = 0
    while at < len(source):
        char = source[at]
        if source.startswith("//", at):
            at = source.find("\n", at) % (len(source) + 1)
        elif source.startswith("/*", at):
            at = source.index("*/", at) + 2
        elif char == "/" and BEFORE_REGEX.search(source[max(0, at - 40) : at]):
            at = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/\w*").match(source, at).end()
        elif char in "\"'":
            found = re.compile(rf"{char}((?:\\.|[^{char}\\\n])*){char}").match(source, at)
            yield at, found[1]
            at = found.end()
        elif char == "`":
            at = yield from _template(source, at)
        else:
            depth += (char == "{") - (char == "}")
            at += 1
            if inside and depth < 0:
                return at
    return at


def _template(source: str, start: int) -> Iterator[tuple[int, str]]:
    at, text = start + 1, ""
    while source[at] != "`":
        if source.startswith("${", at):
            at, text = (yield from literals(source, at + 2, inside=True)), text + HOLE
        else:
            width = 2 if source[at] == "\\" else 1
            at, text = at + width, text + source[at : at + width]
    yield start, text
    return at + 1
