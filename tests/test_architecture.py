"""Who may import whom: the house in one table, read off the source of every file."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STANDARD = None  # checked by name below
# part -> (other packages it may import, parts of ours it may import)
RULES = {
    "words": (set(), set()),
    "config": (set(), {"words"}),
    "model": ({"torch"}, {"config"}),
    "data": (
        {"torch", "sentencepiece", "numpy", "chardet", "openpyxl", "pyarrow", "polib", "defusedxml", "datasets", "huggingface_hub"},
        {"config", "words"},
    ),
    "twists": ({"torch"}, {"config", "model", "data"}),
    "training": ({"torch"}, {"config", "model", "data", "decoding", "twists"}),
    "decoding": ({"torch", "numpy"}, {"config", "model"}),
    "inspection": ({"torch", "numpy"}, {"config", "model"}),
    "runs": (
        {"torch", "numpy", "safetensors", "orjson", "sacrebleu"},
        {"words", "config", "model", "data", "training", "decoding", "inspection", "twists"},
    ),
    "figures": ({"numpy", "plotly"}, set()),
    "lessons": (
        {"torch", "numpy"},
        {"words", "config", "model", "data", "training", "decoding", "inspection", "twists", "runs", "figures"},
    ),
    "ui": (
        {"gradio", "pandas", "numpy", "plotly", "orjson", "segno", "fastapi", "starlette"},
        {"words", "config", "model", "data", "training", "decoding", "inspection", "runs", "figures", "lessons"},
    ),
    "readme": (set(), {"words", "config"}),
    "arguments": (set(), {"words", "config"}),
    "cli": (
        {"torch", "numpy", "orjson"},
        {"arguments", "words", "config", "model", "data", "training", "decoding", "runs", "lessons", "ui"},
    ),
    "__main__": (set(), {"cli"}),
}


def imports(file: Path):
    """(top package, second name or "") of every import in a file, relative ones resolved."""
    package = file.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level]) + "." if node.level else ""
            module = (base + (node.module or "")).rstrip(".")
            names = [module] if module != "playground" else [f"playground.{alias.name}" for alias in node.names]
            if node.level and node.module is None:
                names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            yield top, rest.partition(".")[0]


def part_of(file: Path) -> str:
    inside = file.relative_to(ROOT / "playground").parts
    return inside[0].removesuffix(".py")


FILES = sorted((ROOT / "playground").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_one_way(file):
    import sys

    part = part_of(file)
    if part == "__init__":
        return
    others, ours = RULES[part]
    for top, second in imports(file):
        if top == "playground":
            assert second == part or second in ours or second == "", f"{part} may not import playground.{second}"
        elif top not in sys.stdlib_module_names:
            assert top in others, f"{part} may not import {top}"


def test_only_runs_knows_threads_and_only_ui_knows_gradio():
    for file in FILES:
        found = {top for top, _ in imports(file)}
        if part_of(file) != "runs" and file.name != "drawn.py":  # which is read by several, and locks; it starts none
            assert not found & {"threading", "concurrent", "multiprocessing"}, file
        if part_of(file) != "ui":
            assert "gradio" not in found, file


def test_the_rules_would_catch_a_wrong_import(tmp_path):
    assert ("torch", "") in set(imports(ROOT / "playground" / "model" / "masks.py"))
    assert "torch" not in RULES["ui"][0]
    assert "ui" not in RULES["runs"][1]


def test_no_pickle_and_no_torch_load_anywhere():
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        assert not {top for top, _ in imports(file)} & {"pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal"}, file
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
                assert node.attr not in ("load", "save"), file
