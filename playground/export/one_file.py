"""One file: several modules of ours, joined. What they import from one another stands in it, so that it imports none of ours."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
WIDTH = 140


class Piece(NamedTuple):
    """A module, whole, or of it only these `names` and what they need of the same module."""

    module: str
    names: tuple[str, ...] = ()

    def text(self) -> str:
        return ROOT.joinpath(*self.module.split(".")).with_suffix(".py").read_text(encoding="utf-8")

    def about(self) -> str:
        """The module's docstring."""
        return ast.get_docstring(ast.parse(self.text())) or ""


@dataclass(frozen=True)
class Part:
    """What a piece brings: its `imports` of other packages and of ours as (module, name), "" for the module itself, and its source."""

    about: str
    imports: tuple[tuple[str, str], ...]
    source: str


def join(about: str, pieces: Sequence[Piece | Part], elsewhere: Mapping[str, str] | None = None) -> str:
    """The source of one module. `elsewhere` names the file beside it in which a module of ours is found instead.

    Raises ValueError when two pieces define the same name, or one imports a module of ours that is neither here nor elsewhere.
    """
    parts = [read(piece) if isinstance(piece, Piece) else piece for piece in pieces]
    titles = ["" if about.startswith(part.about) else f"# --- {part.about} ---\n\n\n" for part in parts]
    body = "\n\n\n".join(title + part.source for title, part in zip(titles, parts, strict=True))
    defined = [name for part in parts for node in ast.parse(part.source).body for name in _defined(node)]
    if twice := sorted({name for name in defined if defined.count(name) > 1}):
        raise ValueError(f"defined more than once: {', '.join(twice)}")
    here = {piece.module for piece in pieces if isinstance(piece, Piece)}
    used, wanted = _used(ast.parse(body)), set()
    for module, name in (found for part in parts for found in part.imports):
        called = name.rpartition(" as ")[2] or module.partition(".")[0]
        if module in here or called in defined or called not in used:
            continue
        file = (elsewhere or {}).get(module, module)
        if file.partition(".")[0] == "playground":
            raise ValueError(f"{module} is neither here nor elsewhere")
        wanted.add((file, name))
    gap = "\n\n\n" if body.startswith(("@", "class ", "def ")) else "\n\n"
    quoted = f"{about}\n" if "\n" in about.strip("\n") else about
    return f'"""{quoted}"""\n\nfrom __future__ import annotations\n\n{_imports(wanted)}{gap}{body}\n'


def read(piece: Piece) -> Part:
    """A module as a part of a file: without its imports, and with its docstring as what it is `about`."""
    source = piece.text()
    tree, lines = ast.parse(source), source.splitlines()
    chosen = _needed(tree, piece.names)
    imports, found, end = [], [], 0
    for node in tree.body:
        text = "\n".join(lines[end : node.end_lineno]).strip("\n")  # with the remarks above it
        end = node.end_lineno or end
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports += _imported(node)
        elif not _is_left_out(node) and (not piece.names or chosen & set(_defined(node))):
            found.append((text if not piece.names else _without_headings(text), _gap(node)))
    about = "" if piece.names else piece.about().splitlines()[0].rstrip(".")
    return Part(about, tuple(imports), _spaced(found))


def _needed(tree: ast.Module, names: Iterable[str]) -> set[str]:
    """These names and all others of the module that they need."""
    where = {name: node for node in tree.body for name in _defined(node)}
    needed, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            left += _used(where[name]) & where.keys()
    return needed


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    for target in node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []:
        yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.name, ""
        elif node.module != "__future__":
            yield node.module or "", f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _is_left_out(node: ast.stmt) -> bool:
    """A docstring, and what only type checkers read."""
    return isinstance(node, ast.Expr) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")


def _without_headings(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("# ---")).strip("\n")


def _gap(node: ast.stmt) -> str:
    return "\n\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "\n"


def _spaced(found: Sequence[tuple[str, str]]) -> str:
    """Definitions with two empty lines around them, assignments under one another."""
    text = ""
    for place, (source, gap) in enumerate(found):
        text += (max(gap, found[place - 1][1], key=len) if place else "") + source
    return text


def _imports(wanted: Iterable[tuple[str, str]]) -> str:
    """Import statements, those of the standard library first."""
    names: dict[str, set[str]] = {}
    for module, name in sorted(wanted):
        names.setdefault(module, set()).add(name)
    groups: dict[int, list[str]] = {}
    for module, some in names.items():
        groups.setdefault(_group(module), []).extend([f"import {module}"] if "" in some else [])
    for module, some in names.items():
        if some - {""}:
            groups[_group(module)].append(_wrapped(module, sorted(some - {""}, key=_isort)))
    return "\n\n".join("\n".join(groups[place]) for place in sorted(groups))


def _group(module: str) -> int:
    """The standard library, packages, and the file beside this one."""
    top = module.partition(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top == "model" else 1


def _isort(name: str) -> tuple[int, str]:
    """Constants first, then classes, then the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def _wrapped(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= WIDTH else f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
