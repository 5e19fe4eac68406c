"""Who may import whom: the house in one table, read off the source of every file."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAKE_TIME = {  # all other files of runs/ are given it: their tests move it
    "runtime.py", "steady_clock.py", "recording.py",  # clocks by default
    "machine_speed.py", "queue/parallel.py",  # processor time
    "lru.py",  # an order
    "run.py",  # a first version number
}  # fmt: skip
# part -> (other packages it may import, parts of ours it may import)
RULES = {
    "words": (set(), set()),
    "figures": ({"numpy"}, set()),
    "tasks": (set(), set()),
    "choices": (set(), set()),
    "knobs": (set(), {"words"}),
    "config": (set(), {"knobs", "choices", "tasks"}),
    "logs": (set(), {"config"}),
    "fields": (set(), {"config"}),
    "cursor": (set(), {"words", "config", "fields"}),
    "model": ({"torch"}, {"config"}),
    "reading": ({"chardet", "openpyxl", "pyarrow", "polib", "defusedxml", "datasets"}, {"config", "words"}),
    "data": ({"torch", "numpy", "sentencepiece"}, {"words", "config", "tasks", "reading"}),
    "variants": ({"torch"}, {"choices", "knobs", "config", "model", "data"}),
    "decoding": ({"torch", "numpy"}, {"config", "model"}),
    "inspection": ({"torch", "numpy"}, {"config", "model"}),
    "training": ({"torch"}, {"choices", "knobs", "config", "model", "data", "decoding", "variants"}),
    "runs": (
        {"torch", "numpy", "safetensors", "cachetools", "pandas", "ray"},
        {"words", "config", "logs", "model", "reading", "data", "variants", "inspection", "training"},
    ),
    "rooms": (set(), {"words", "config", "logs", "fields", "cursor", "runs"}),
    "backup": (set(), {"config", "reading", "rooms", "runs"}),
    "queries": (
        {"torch", "numpy", "sacrebleu"},
        {"config", "cursor", "tasks", "model", "reading", "data", "variants", "decoding", "inspection", "training", "runs"},
    ),
    "lessons": (
        {"torch", "numpy"},
        {
            *("words", "choices", "config", "cursor", "tasks", "model", "data", "variants", "inspection", "decoding", "training"),
            *("runs", "queries"),
        },
    ),
    "export": (
        {"torch", "safetensors", "sentencepiece"},
        {"words", "config", "tasks", "model", "reading", "data", "variants", "runs", "queries"},
    ),
    "hub": ({"torch", "huggingface_hub"}, {"config", "model", "data", "variants", "runs", "export"}),
    "fetching": ({"huggingface_hub"}, {"config"}),
    "pretrained": (
        {"torch", "numpy", "pandas"},
        {"config", "model", "data", "variants", "decoding", "runs", "queries", "export", "fetching"},
    ),
    "zero_gpu": ({"torch", "spaces"}, set()),
    "ui": (
        {
            *("gradio", "jinja2", "numpy", "orjson", "brotli", "plotly", "segno", "fastapi", "starlette", "prometheus_client"),
            "python_multipart",
        },
        {
            *("words", "knobs", "config", "logs", "cursor", "figures", "model", "reading", "data", "decoding", "inspection", "training"),
            *("runs", "rooms", "queries", "lessons", "export", "zero_gpu"),
        },
    ),
    "readme": (set(), {"words", "config"}),
    "arguments": (set(), {"words", "config", "cursor"}),
    "freeze": ({"orjson"}, {"words", "config", "cursor", "inspection", "runs", "queries", "lessons", "ui"}),
    "cli": (
        set(),
        {
            *("words", "arguments", "knobs", "config", "cursor", "reading", "data", "runs", "backup", "queries"),
            *("lessons", "export", "hub", "ui", "freeze"),
        },
    ),
    "__main__": (set(), {"cli"}),
}


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def names_in(file: Path) -> tuple[str, ...]:
    """The full name of everything that a file imports: modules, and names out of them as `module.name`. Relative ones are resolved."""
    return tuple(_names_in(file))


def _names_in(file: Path) -> Iterator[str]:
    package = file.relative_to(ROOT).with_suffix("").parts
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """(top package, second name or "") of every import in a file."""
    for name in names_in(file):
        top, _, rest = name.partition(".")
        yield top, rest.partition(".")[0]


def files_in(file: Path) -> set[Path]:
    """The files of ours that a file imports."""
    found = set()
    for name in names_in(file):
        *parts, last = name.split(".")
        candidates = (ROOT.joinpath(*parts, f"{last}.py"), ROOT.joinpath(*parts).with_suffix(".py"), ROOT.joinpath(*parts, "__init__.py"))
        found |= set([path for path in candidates if path in FILES][:1])
    return found - {file}


def part_of(file: Path) -> str:
    inside = file.relative_to(ROOT / "playground").parts
    return inside[0].removesuffix(".py")


FILES = dict.fromkeys(sorted((ROOT / "playground").rglob("*.py")))


def used_by(part: str) -> tuple[set[str], set[str]]:
    """What the files of a part import: other packages, and other parts of ours."""
    others, ours = set(), set()
    for top, second in (found for file in FILES if part_of(file) == part for found in imports(file)):
        if top == "playground":
            ours |= {second} - {part, ""}
        elif top not in sys.stdlib_module_names:
            others.add(top)
    return others, ours


def test_imports_go_one_way_and_nothing_is_granted_that_is_not_used():
    order = list(RULES)
    assert {part_of(file) for file in FILES} - {"__init__"} == {*order}
    for part, granted in RULES.items():
        assert used_by(part) == granted, part
        assert all(order.index(other) < order.index(part) for other in granted[1]), part


def test_no_circle_of_files():
    left = {file: files_in(file) for file in FILES}
    while free := [file for file, needed in left.items() if not needed & left.keys()]:
        for file in free:
            del left[file]
    assert not [str(file.relative_to(ROOT)) for file in left]


def test_only_runs_knows_threads_and_only_ui_knows_gradio():
    for file in FILES:
        found = {top for top, _ in imports(file)}
        locks = part_of(file) == "rooms" or file.name in ("lazy_sequence.py", "cuda_graph.py")  # used by several, and start none
        if part_of(file) != "runs" and not locks:
            assert not found & {"threading", "concurrent", "multiprocessing"}, file
        if part_of(file) != "ui":
            assert "gradio" not in found, file


def below(part: str) -> set[str]:
    """The part and everything of ours that it may have under it."""
    return {part}.union(*map(below, RULES[part][1]))


def test_reading_could_leave_the_house():
    """Uploads are read in a process of its own, which starts without torch; and the tests of reading run where there is nothing else."""
    code = "import sys, playground.reading.uploads; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    ours = {name.split(".")[1] for name in loaded if name.startswith("playground.")}
    assert ours <= below("reading")
    assert not {"torch", "gradio", "plotly", "sentencepiece", "safetensors"} & set(loaded)
    for file in (ROOT / "tests" / "reading").rglob("*.py"):
        for name in names_in(file):
            parts = name.split(".")
            assert parts[0] != "tests" or parts[1] == "reading", file
            assert parts[0] != "playground" or parts[1] in below("reading"), file


def test_no_pickle_and_no_torch_load_anywhere():
    for file in FILES:
        assert not {top for top, _ in imports(file)} & {"pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal"}, file
        for node in nodes_of(file):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
                assert node.attr not in ("load", "save"), file


def test_time_and_threads_are_given_to_runs():
    folder = ROOT / "playground" / "runs"
    takes, starts = set(), set()
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import) and any(alias.name == "time" for alias in node.names):
                takes.add(name)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "threading.Thread":
                starts.add(name)
    assert takes == TAKE_TIME
    assert starts == {"runtime.py"}
