"""Finds text that people would read in the code itself, by its syntax tree. In the page's scripts ESLint does: tests/js/lint/strays.js."""

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


# Calls whose strings nobody reads on the page: a log, another language's code, a name by which something is kept or looked up.
UNREAD = re.compile(
    r"^(log\.\w+|warnings\.\w+|re\.\w+|TypeVar|ParamSpec|NewType|reader\.work|self\.remember|os\.environ\.\w+|\w*Error|KeyError|logging\.\w+)$"
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
