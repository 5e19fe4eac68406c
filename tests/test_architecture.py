"""Imports between parts: the house in one table, read off the source of every file."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from playground.words import percentage

ROOT = Path(__file__).parents[1]
# clocks by default, processor time, an order, a first version number; all other files of runs/ are given the time: their tests move it
TAKE_TIME = {"runtime.py", "recording.py", "machine_speed.py", "queue/parallel.py", "memory.py", "run.py"}
TAKE_TIME |= {"limits.py"}
# part: other packages it may import | parts of ours it may import. In features/ a query and a figure are parts of their own, see part_of
TABLE = """
words: |
figures: numpy |
tasks: |
choices: |
knobs: | words choices
config: | words tasks choices knobs
logs: | config
cursor: | words knobs config
model: torch | config
reading: chardet datasets defusedxml openpyxl polib pyarrow | words config
data: numpy sentencepiece torch | words tasks config model reading
variants: torch | choices knobs config model data
decoding: numpy safetensors torch | config model
inspection: numpy torch | config model variants
training: sacrebleu torch | choices knobs config model reading data variants decoding
runs: numpy pandas safetensors torch | words config logs model reading data variants training
ray: ray | words logs runs
rooms: | words knobs config logs cursor runs
handin: pandas |
backup: | config runs rooms handin
queries: numpy torch | tasks config cursor model reading data variants decoding inspection training runs
lessons: numpy torch | words tasks choices knobs config cursor model data variants decoding inspection training runs queries
export: huggingface_hub numpy onnxscript safetensors sentencepiece torch xlsxwriter | \
words tasks config model reading data variants inspection runs queries
hub: huggingface_hub torch | config logs model data variants training runs backup export handin
pretrained: numpy pandas torch | words tasks config export model data variants decoding training runs queries
scripting: torch tqdm | config reading data runs export pretrained
exercises: torch | words config model data decoding training export pretrained
features: numpy | words figures knobs config cursor reading model data variants decoding inspection training runs rooms queries lessons
plot: numpy plotly | words figures config features
ui: brotli fastapi gradio mcp numpy orjson plotly prometheus_client pydantic python_multipart segno spaces starlette torch | words \
figures knobs config logs cursor reading training runs rooms queries lessons export hub features handin
readme: | words config lessons
freeze: orjson | words config cursor inspection runs queries lessons features ui
cli: | words knobs config cursor model reading data decoding training runs backup queries lessons features export hub \
ui freeze pretrained exercises handin
__main__: | cli
"""
ROWS = (line.replace("|", ":").split(":") for line in TABLE.strip().splitlines())
RULES = {part: (set(packages.split()), set(ours.split())) for part, packages, ours in ROWS}
LAYERS = {"queries": "queries", "query": "queries", "figures": "figures", "figure": "figures"}  # folder in shared/, or end of a name
FILES = dict.fromkeys(file for file in sorted((ROOT / "playground").rglob("*.py")) if not file.name.startswith(("test_", "conftest")))
COMPILER = {"torch._dynamo", "torch.onnx", "sympy", "pandas"}  # two seconds and 70 MB in each process that trains
SLOW_STARTS = {
    "import playground.cli; playground.cli.parser()": {"torch", "numpy", "gradio", "plotly", "pandas"},
    "from playground.cli import main; main(['translate', 'reverse', 'hello'])": {"torch", "gradio", "pandas"},
    "from playground.runs.machine_speed import warm_up; warm_up()": COMPILER | {"gradio", "plotly"},
    "import playground.ui.server": COMPILER | {"sacrebleu", "openpyxl", "xlsxwriter", "chardet", "plotly.graph_objects"},
}


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def names_in(file: Path) -> Iterator[str]:
    """The full name of everything that a file imports: modules, and names out of them as `module.name`. Relative ones are resolved."""
    package = file.relative_to(ROOT).with_suffix("").parts
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@cache
def imports(file: Path) -> set[tuple[str, str]]:
    """(top package, second name or "") of every import in a file."""
    return {(*name.split("."), "")[:2] for name in names_in(file)}


def files_in(file: Path) -> set[Path]:
    """The files of ours that a file imports."""
    needed = set()
    for name in names_in(file):
        *parts, last = name.split(".")
        module, package = ROOT.joinpath(*parts, last), ROOT.joinpath(*parts)
        candidates = (module.with_suffix(".py"), module / "__init__.py", package.with_suffix(".py"), package / "__init__.py")
        needed |= set([path for path in candidates if path in FILES][:1])
    return needed - {file}


def part_of(file: Path) -> str:
    """The package of a file; of a feature's the layer: its queries know no figures, its figures only arrays, its panels both."""
    package, *rest = file.relative_to(ROOT / "playground").with_suffix("").parts
    if package == "features":
        words = (rest[1] if rest[0] == "shared" else "", rest[-1].rpartition("_")[2])
        return next((LAYERS[word] for word in words if word in LAYERS), package)
    return package


def below(part: str) -> set[str]:
    """The part and everything of ours that it may have under it."""
    return {part}.union(*map(below, RULES[part][1]))


def test_imports_go_one_way_and_nothing_is_granted_that_is_not_used():
    order = list(RULES)
    assert {part_of(file) for file in FILES} - {"__init__"} == {*order}
    for part, granted in RULES.items():
        files = [file for file in FILES if part_of(file) == part]
        packages = {top for file in files for top, _ in imports(file)} - {"playground", *sys.stdlib_module_names}
        assert (packages, {part_of(used) for file in files for used in files_in(file)} - {part, "__init__"}) == granted, part
        assert all(order.index(other) < order.index(part) for other in granted[1]), part


def test_a_feature_imports_no_other_and_there_is_no_circle_of_files():
    """Shared parts are in features/shared, which imports none."""
    folder = ROOT / "playground" / "features"
    for file in (file for file in FILES if file.is_relative_to(folder) and file.parent != folder):
        used = {other.relative_to(folder).parts[0] for other in files_in(file) if other.is_relative_to(folder)}
        assert used <= {file.relative_to(folder).parts[0], "shared", "__init__.py"}, file
    left = {file: files_in(file) for file in FILES}
    while free := [file for file, needed in left.items() if not needed & left.keys()]:
        for file in free:
            del left[file]
    assert not [str(file.relative_to(ROOT)) for file in left]


def test_a_tab_is_declared_in_panel_py_and_each_of_two_in_a_module_of_its_name():
    declares = re.compile(r'@panels\.declare\("\w+", "')
    assert {file.name for file in FILES if declares.search(file.read_text("utf-8"))} == {"panel.py", "course.py", "labs.py"}


def test_only_runs_knows_threads_and_time_and_nothing_reads_pickles():
    """Inside runs/ one file starts threads, and those that take the time are listed."""
    takes, starts = set(), set()
    for file in FILES:
        tops = {top for top, _ in imports(file)}
        locks = part_of(file) in ("ray", "rooms", "hub") or file.name in ("corpus.py", "fast_step.py")  # used by several, and start none
        assert part_of(file) == "runs" or locks or not tops & {"threading", "concurrent", "multiprocessing"}, file
        assert not tops & {"pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal"}, file
        funcs = [node.func for node in nodes_of(file) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        calls = {f"{func.value.id}.{func.attr}" for func in funcs if isinstance(func.value, ast.Name)}
        assert not calls & {"torch.load", "torch.save"}, file
        if part_of(file) == "runs":
            name = file.relative_to(ROOT / "playground" / "runs").as_posix()
            takes |= {name} if "time" in tops else set()
            starts |= {name} if "threading.Thread" in calls else set()
    assert (takes, starts) == (TAKE_TIME, {"runtime.py"})


def test_a_file_that_the_text_names_is_there():
    there = {path.name for path in [ROOT / "app.py", *FILES, *(ROOT / "tests").rglob("*.py")]} | {"use.py"}  # of a zip
    named = re.compile(r"\b[a-z]\w*\.py\b")
    assert [(file.name, name) for file in FILES for name in named.findall(file.read_text(encoding="utf-8")) if name not in there] == []


def test_a_percentage_is_written_by_one_rule():
    """With fixed decimals, or by `percentage`: other formats make 1e+02 of 100."""
    other = re.compile(r"(short|printed)\(100 \* |\{100 \* [^{}]*:(?!\.\df)[^{}]*\}")
    assert [file.name for file in FILES if other.search(file.read_text(encoding="utf-8"))] == ["__init__.py"]
    assert [percentage(share, None) for share in (1.0, 0.996, 0.0432, 0.0)] == ["100", "100", "4.3", "0"]


def list_loaded(code: str) -> set[str]:
    """The modules in a new process after it has run the code."""
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    return set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())


def test_reading_could_leave_the_house():
    """Uploads are read in a process of its own, which starts without torch."""
    loaded = list_loaded("import playground.reading.uploads")
    assert {name.split(".")[1] for name in loaded if name.startswith("playground.")} <= below("reading")
    assert not {"torch", "gradio", "plotly", "sentencepiece", "safetensors"} & loaded


@pytest.mark.parametrize("code", [pytest.param(code, marks=pytest.mark.night if "parser" not in code else ()) for code in SLOW_STARTS])
def test_a_start_takes_only_what_it_needs(code):
    assert not SLOW_STARTS[code] & list_loaded(code)
