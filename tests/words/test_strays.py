"""No string outside the language files: what the page shows to people stands in words/, not in the code.

Errors that tell a programmer of a wrong call, the server's log and the command line are English, and not on the page.
"""

from pathlib import Path

import pytest

from tests.thoroughness import every_case
from tests.words.strays import in_python

ROOT = Path(__file__).parents[2] / "playground"
PARTS = ("ui", "figures", "lessons", "runs", "queries", "variants")
FILES = [file for part in PARTS for file in sorted((ROOT / part).rglob("*.py"))]

# What looks like something to be read and is none, by its reason.
NONE_OF_THEM = {
    "a header of HTTP": ('attachment; filename="\0"', "public, max-age=31536000, immutable", "Origin", "Host", "Vary", "Authorization"),
    "names of languages": ("Python",),
    "names of fonts": ("Segoe UI", "Roboto", "PingFang SC", "Noto Sans SC", "Noto Sans CJK SC", "Microsoft YaHei", "Menlo", "Consolas"),
    "said in the terminal that started the server": ("Transformer Playground: \0",),
    "mathematics": ("max left", "max \0", "NaN"),
    "a place beside a point, as Plotly calls it": ("middle right",),
    "part of what torch says when memory is short": ("allocate memory", "out of memory"),
    "a line of Linux's /proc": ("Data", "Size", "Pss:"),
    "what Ray says of a machine": ("Alive", "Resources"),
    "headings of a docstring, as Gradio reads it": ("Parameters:", "Returns:"),
    "texts that a tokenizer learns from": (
        "low low low low low lower lower newest newest newest newest newest newest widest widest widest", "the red fox sees the red hen",
        "the red hen fled", "ten red hens then", "我喜欢你 我不喜欢他", "你喜欢我 他不喜欢我", "她喜欢茶 她不喜欢咖啡", "他喜欢你",
    ),
    "kinds of characters in Unicode": ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs"),
}  # fmt: skip
WHOLE = ("default-src 'none'", 'system-ui, -apple-system, "Segoe UI"', "ui-monospace, Menlo")  # begin a policy, fonts
ALLOWED = {text for texts in NONE_OF_THEM.values() for text in texts}


def strays(file: Path) -> list[tuple[int, str]]:
    return list(in_python(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_string_outside_the_language_files(file):
    found = [(line, text) for line, text in strays(file) if text not in ALLOWED and not text.startswith(WHOLE)]
    assert not found, f"{file.relative_to(ROOT)}: put these into words/en and words/zh: {found}"


def test_nothing_is_allowed_that_is_not_there():
    found = {text for file in FILES for _, text in strays(file)}
    assert found >= ALLOWED
    assert all(any(text.startswith(begin) for text in found) for begin in WHOLE)


@every_case(
    "planted",
    [
        'block = text("about", "Look at the loss.")',
        'block = text("about", "看看损失")',
        'block = button("stop", "Stop")',
        'block = {"title": "loss"}',
        'block = figure(id, title="loss")',
        'said = f"{count} tokens"',
        'said = f"step {step}"',
        "page = f'<p title=\"{name}\">Not yet</p>'",
        "page = '<button aria-label=\"Close\">×</button>'",
        'raise Refusal("runs.gone", why="nobody knows why")',
        'def panel():\n    """A docstring."""\n    return "It learns."',
        'NAMES = ("Encoder", "Decoder")',
    ],
)
def test_a_stray_in_python_is_found(planted):
    assert list(in_python(planted))


@pytest.mark.parametrize(
    "clean",
    [
        '"""A docstring of two sentences. It is for whoever reads the code."""',
        'def panel():\n    """So is this one."""',
        'log.warning("run %s could not be saved", name)',
        'raise ValueError(f"{count} lines can\'t be told apart")',
        'block = text("about", view.say("page.about"), css="pg-caption and more")',
        'block = {"kind": "figure", "title": "", "label": "#e6e9ee", "placeholder": "own_hint"}',
        'page = f\'<div class="pg-panel large" id="pg-{name}"></div>\'',
    ],
)
def test_what_nobody_reads_is_none_in_python(clean):
    assert not list(in_python(clean))
