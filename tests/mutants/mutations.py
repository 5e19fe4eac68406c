"""Small faults made by rule in a source file: an operator, constant, comparison or condition changed, a statement dropped."""

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
        if self._change(node):
            self.generic_visit(node)
        self._line = before

    def _change(self, node: ast.AST) -> bool:
        """Adds what may change of the node itself; whether what is in it may change too."""
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                self._path.append(node.name)
                own = [] if isinstance(node, ast.ClassDef) else [*node.args.defaults, *filter(None, node.args.kw_defaults)]
                for part in (*node.body, *own):  # a default is a number like any other; annotations and decorators are not visited
                    self.visit(part)
                self._path.pop()
                return False
            case ast.JoinedStr():  # its parts have no place of their own before Python 3.12
                return False
            case ast.AnnAssign():
                if node.value:
                    self.visit(node.value)
                return False
            case ast.If() if (test := ast.unparse(node.test)) != "TYPE_CHECKING":
                self._add("condition", node.test, f"(not ({test}))")
            case ast.Expr():
                if isinstance(node.value, ast.Constant) or ast.unparse(node).startswith(LOGGING):
                    return False  # a docstring, or the log
                if not isinstance(node.value, (ast.Yield, ast.YieldFrom)):
                    self._add("dropped", node, "pass")
            case ast.AugAssign():
                self._add("dropped", node, "pass")
            case ast.Raise():
                if node.exc:
                    self._add("dropped", node, "pass")
                return False
            case ast.Compare(left, [op, *ops], right) if swapped := OPERATORS.get(type(op)):
                self._add("comparison", node, ast.unparse(ast.Compare(left, [swapped(), *ops], right)))
            case ast.BinOp(left, op, right) if (swapped := OPERATORS.get(type(op))) and not any(map(_is_text, (left, right))):
                self._add("operator", node, f"({ast.unparse(ast.BinOp(left, swapped(), right))})")
            case ast.BoolOp(op, values):
                self._add("operator", node, f"({ast.unparse(ast.BoolOp(OPERATORS[type(op)](), values))})")
            case ast.UnaryOp(ast.Not(), operand):
                self._add("operator", node, f"({ast.unparse(operand)})")
            case ast.Constant(bool(value) | int(value) | float(value)):
                other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 2 or 1.0
                self._add("constant", node, repr(other))
        return True


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
