"""The Python files of an export: several modules of ours joined into one that imports none of ours.

model.py is the Transformer of a run in one readable file that needs only torch, use.py loads and uses it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

from playground.config import ModelConfig
from playground.variants import variant_of

MODULES = ("parts", "masks", "positions", "kv_cache", "attention", "layers", "transformer")
ABOUT = """The Transformer of "Attention Is All You Need", an encoder that reads and a decoder that writes, in one file.

Tensors are named by their shapes: B sentences, L tokens (S of a source, T of a target, N new ones), D = d_model, H heads of K numbers, V
tokens in a vocabulary. `build` makes the model of config.json; use.py shows how it is loaded."""
REFUSAL = '''class Refusal(ValueError):
    """A request that can't be fulfilled: `key` names the reason, `values` fill it in."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)'''
BUILD = '''def build(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> Transformer:
    """A model as its configuration says; load its parameters into it."""
    return Transformer(config, src_vocab, tgt_vocab)'''
BUILD_VARIANT = '''def build(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> Transformer:
    """A model as its configuration says, with the variant “{variant}”; load its parameters into it."""
    model = Transformer(config, src_vocab, tgt_vocab)
    with torch.no_grad():
        {changes}
    return model'''


def model_file(config: ModelConfig) -> str:
    """Returns the source of model.py, with the variant that `config` needs, if any."""
    return join(
        ABOUT,
        [
            Piece("playground.choices", ("ENCODINGS",)),
            Piece("playground.config", ("MAX_POSITIONS", "PAD", "SPECIAL_TOKENS")),
            Part("", (), REFUSAL),
            Part("", (("dataclasses", "dataclass"),), _config_class()),
            *(Piece(f"playground.model.{name}") for name in MODULES),
            *_variant(config),
        ],
    )


def _config_class() -> str:
    """Returns the source of ModelConfig with fields and defaults, but without the playground's checks."""
    doc = cleandoc(ModelConfig.__doc__ or "")
    defaults = {knob: f'"{knob.default}"' if isinstance(knob.default, str) else repr(knob.default) for knob in fields(ModelConfig)}
    knobs = "\n".join(f"    {knob.name}: {knob.type} = {value}" for knob, value in defaults.items())
    return (
        f'@dataclass(frozen=True)\nclass ModelConfig:\n    """{doc}"""\n\n{knobs}\n\n    @property\n    def encoding(self) -> Encoding:\n'
        '        """What `positions` is made of."""\n        return ENCODINGS[self.positions]'
    )


def _variant(config: ModelConfig) -> list[Piece | Part]:
    """Returns the source of `build`, with the variant's change of the model. A variant that changes only the training data needs nothing
    here."""
    variant = variant_of(config)
    if not variant.change:
        return [Part("Building it", (), BUILD)]
    needed: dict[str, list[str]] = {"playground.variants.variant": ["attentions"] * ("attentions" in variant.change.__code__.co_names)}
    for part in filter(None, (variant.change, variant.part)):
        needed.setdefault(part.__module__, []).append(part.__name__)
    changes = f"{variant.change.__name__}(model{f', {variant.part.__name__}' if variant.part else ''})"
    changes += "" if variant.cacheable else "\n        model.cacheable = False"
    build = Part("", (("torch", ""),), BUILD_VARIANT.format(variant=config.altered_by, changes=changes))
    return [*(Piece(module, tuple(names)) for module, names in needed.items() if names), build]


def use_file() -> str:
    """Returns the source of use.py, which imports from model.py."""
    use, in_model = Piece("playground.export.use"), ("playground.config", "playground.model.transformer", "playground.variants")
    return join(use.docstring(), [Piece("playground.reading.text"), use], dict.fromkeys(in_model, "model"))


# --- joining modules ---

ROOT = Path(__file__).parents[2]


class Piece(NamedTuple):
    """A module, whole, or only these `names` and what they need of the same module."""

    module: str
    names: tuple[str, ...] = ()

    def text(self) -> str:
        return ROOT.joinpath(*self.module.split(".")).with_suffix(".py").read_text(encoding="utf-8")

    def docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.text())) or ""


@dataclass(frozen=True)
class Part:
    """The source of a piece, its title, and its `imports` of other packages and of ours as (module, name), "" for the module itself."""

    title: str
    imports: tuple[tuple[str, str], ...]
    source: str


def join(docstring: str, pieces: Sequence[Piece | Part], siblings: Mapping[str, str] | None = None) -> str:
    """Joins pieces to the source of one module. `siblings` maps modules of ours to the neighbouring file that has them instead.

    Raises ValueError when two pieces define the same name, or one imports a module of ours that is in neither.
    """
    parts = [read(piece) if isinstance(piece, Piece) else piece for piece in pieces]
    titles = ["" if docstring.startswith(part.title) else f"# --- {part.title} ---\n\n\n" for part in parts]
    body = "\n\n\n".join(title + part.source for title, part in zip(titles, parts, strict=True))
    defined = [name for part in parts for node in ast.parse(part.source).body for name in _defined(node)]
    if duplicates := sorted({name for name in defined if defined.count(name) > 1}):
        raise ValueError(f"defined more than once: {', '.join(duplicates)}")
    included = {piece.module for piece in pieces if isinstance(piece, Piece)}
    used, wanted = _used(ast.parse(body)), set()
    for module, name in (imported for part in parts for imported in part.imports):
        called = name.rpartition(" as ")[2] or module.partition(".")[0]
        if module in included or called in defined or called not in used:
            continue
        file = (siblings or {}).get(module, module)
        if file.partition(".")[0] == "playground":
            raise ValueError(f"{module} is neither here nor elsewhere")
        wanted.add((file, name))
    gap = "\n\n\n" if body.startswith(("@", "class ", "def ")) else "\n\n"
    quoted = f"{docstring}\n" if "\n" in docstring.strip("\n") else docstring
    return f'"""{quoted}"""\n\nfrom __future__ import annotations\n\n{_imports(wanted)}{gap}{body}\n'


def read(piece: Piece) -> Part:
    """Reads one of our modules as a part of the exported file: without imports, and with the first line of its docstring as its `title`."""
    source = piece.text()
    tree, lines = ast.parse(source), source.splitlines()
    chosen = _needed(tree, piece.names)
    imports, sources, end = [], [], 0
    for node in tree.body:
        text = "\n".join(lines[end : node.end_lineno]).strip("\n")  # with the comments above it
        end = node.end_lineno or end
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports += _imported(node)
        elif not _is_left_out(node) and (not piece.names or chosen & set(_defined(node))):
            if piece.names:  # without headings
                text = "\n".join(line for line in text.splitlines() if not line.startswith("# ---")).strip("\n")
            sources.append((text, "\n\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "\n"))
    title = "" if piece.names else piece.docstring().splitlines()[0].rstrip(".")
    return Part(title, tuple(imports), _spaced(sources))


def _needed(tree: ast.Module, names: Iterable[str]) -> set[str]:
    """Returns these names and all other names of the module that they need."""
    definitions = {name: node for node in tree.body for name in _defined(node)}
    needed, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in needed:
            needed.add(name)
            left += _used(definitions[name]) & definitions.keys()
    return needed


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    for target in node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []:
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield alias.name, ""
        elif node.module != "__future__":
            yield node.module or "", f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _is_left_out(node: ast.stmt) -> bool:
    """Returns whether a statement is a docstring or for type checkers only."""
    return isinstance(node, ast.Expr) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")


def _spaced(sources: Sequence[tuple[str, str]]) -> str:
    """Joins sources with two blank lines around definitions and none between assignments."""
    text = ""
    for place, (source, gap) in enumerate(sources):
        text += (max(gap, sources[place - 1][1], key=len) if place else "") + source
    return text


def _imports(wanted: Iterable[tuple[str, str]]) -> str:
    """Returns import statements in three groups: of the standard library, of packages, of the neighbouring file."""
    names: dict[tuple[int, bool, str], list[str]] = {}
    for module, name in sorted(wanted):
        group = 2 if module == "model" else int(module.partition(".")[0] not in sys.stdlib_module_names)
        names.setdefault((group, name != "", module), []).append(name)
    groups = ["", "", ""]
    for (group, is_from, module), imported in sorted(names.items()):
        groups[group] += f"from {module} import {', '.join(imported)}\n" if is_from else f"import {module}\n"
    return "\n".join(filter(None, groups)).rstrip("\n")
