"""Small faults made by rule in a source file: an operator, constant, comparison or condition changed, a statement dropped."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
LOGGING = ("log.", "event(", "warnings.warn(")  # a call that only writes to the log is no truth that a test should keep


class Mutant(NamedTuple):
    """One change. `id` names the function, the rule and the occurrence, so that it outlives changes elsewhere in the file."""

    id: str
    file: str
    line: int  # the first line of the statement that changes, and
    last: int  # the last line of what changes
    begin: int  # bytes of the source in the place of which `after` comes
    end: int
    before: str
    after: str

    def order(self, seed: int) -> str:
        """Sorting by it draws a sample that stays the same while other mutants come and go."""
        return sha256(f"{seed} {self.id}".encode()).hexdigest()

    def apply(self, source: str) -> str | None:
        """The changed source, every other line where it was. None where that is no Python."""
        data = source.encode()
        newlines = "\n" * self.before.count("\n")
        changed = (data[: self.begin] + (self.after + newlines).encode() + data[self.end :]).decode()
        try:
            ast.parse(changed)
        except SyntaxError:
            return None
        return changed


def mutate(source: str, file: str) -> Iterator[Mutant]:
    """Every mutant of one file."""
    data, starts = source.encode(), [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for name, rule, node, line, after in _Visitor(source).changes:
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        yield Mutant(f"{file}:{name}:{rule}", file, line, node.end_lineno, begin, end, data[begin:end].decode(), after)


class _Visitor(ast.NodeVisitor):
    """Collects (function, rule and occurrence, node, line of its statement, text in its place)."""

    def __init__(self, source: str) -> None:
        self.changes: list[tuple[str, str, ast.AST, int, str]] = []
        self._path: list[str] = []
        self._line = 1
        self._count: Counter[tuple[str, str]] = Counter()
        self.visit(ast.parse(source))

    def _add(self, rule: str, node: ast.AST, after: str) -> None:
        name = ".".join(self._path)
        self._count[name, rule] += 1
        self.changes.append((name, f"{rule}:{self._count[name, rule]}", node, self._line, after))

    def visit(self, node: ast.AST) -> None:
        before = self._line
        if isinstance(node, ast.stmt):
            self._line = node.lineno
        super().visit(node)
        self._line = before

    def _named(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._path.append(node.name)
        for part in node.body:
            self.visit(part)
        if not isinstance(node, ast.ClassDef):  # a default is a number like any other; annotations and decorators are not visited
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
        self._path.pop()

    visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _named

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Its parts have no place of their own before Python 3.12."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        if test != "TYPE_CHECKING":
            self._add("condition", node.test, f"(not ({test}))")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        text = ast.unparse(node)
        if isinstance(node.value, ast.Constant) or text.startswith(LOGGING):
            return  # a docstring, or the log
        if not isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self._add("dropped", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add("dropped", node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.exc:
            self._add("dropped", node, "pass")

    def visit_Compare(self, node: ast.Compare) -> None:
        swapped = OPERATORS.get(type(node.ops[0]))
        if swapped:
            self._add("comparison", node, ast.unparse(ast.Compare(node.left, [swapped(), *node.ops[1:]], node.comparators)))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        swapped = OPERATORS.get(type(node.op))
        if swapped and not any(map(_is_text, (node.left, node.right))):
            self._add("operator", node, f"({ast.unparse(ast.BinOp(node.left, swapped(), node.right))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._add("operator", node, f"({ast.unparse(ast.BoolOp(OPERATORS[type(node.op)](), node.values))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add("operator", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add("constant", node, str(not value))
        elif isinstance(value, int):
            self._add("constant", node, str(value + 1))
        elif isinstance(value, float):
            self._add("constant", node, repr(value * 2 or 1.0))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
