"""The worksheet as a printable page: …/worksheet?seed=7&kind=decoder&key=1&lang=zh. No script, no external resources.

One attention sublayer of a tiny model is calculated with a pencil and a pocket calculator. The model has d_model = 4, one head and one
layer. Its weights are drawn from the student's seed in tenths and it has no biases, positions or scaled embeddings, so that the numbers
stay short. Given numbers and answers come from `record` and `explain`: the answer key is the model's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np
import torch

from playground.config import EOS, SPECIAL_TOKENS, ModelConfig, limits
from playground.features.shared.view import language
from playground.inspection.activations import Stage, record
from playground.inspection.arithmetic import Derivation, bracket
from playground.inspection.derivation import explain
from playground.inspection.formulas import formula
from playground.model.transformer import Transformer
from playground.words import say

KINDS = {"encoder": "encoder.0.self_attention", "decoder": "decoder.0.self_attention", "cross": "decoder.0.cross_attention"}
MAX_SEED = int(limits("seed").high)
TOKENS = (*SPECIAL_TOKENS, "a", "b", "c", "d")
# The tasks in order, with the letter of their boxes.
TASKS = {"scores": "s", "scaled": "s′", "masked": "s″", "weights": "α", "mixed": "o", "W_o": "y", "residual": "r", "norm": "n"}
CONFIG = ModelConfig(
    d_model=4, n_heads=1, encoder_layers=1, decoder_layers=1, d_ff=4, positions="none", embedding_scale=False, bias=False
)  # fmt: skip
DECIMALS = 4  # of every number on the sheet


class WorksheetTable(NamedTuple):
    """A table of given numbers: its symbol, the names of its rows (none for a learned matrix), and rows of printed numbers."""

    symbol: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Box(NamedTuple):
    """A box to fill in: its name, its answer, and the arithmetic of the answer ("" where it is obvious)."""

    name: str
    answer: str
    line: str


@dataclass(frozen=True)
class WorksheetTask:
    """One step of the sublayer: `name` is the stage's, `key` and `values` its formula. `way` are boxes for intermediate numbers."""

    name: str
    key: str
    values: dict[str, str]
    way: tuple[Box, ...]
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Worksheet:
    """One row of attention by hand: the query of token number `row`, counted from 0, against all keys."""

    seed: int
    kind: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    row: int
    tables: tuple[WorksheetTable, ...]
    tasks: tuple[WorksheetTask, ...]


def worksheet(seed: int, kind: str = "encoder") -> Worksheet:
    """Creates the sheet of a seed, always the same; `kind` is "encoder", "decoder" or "cross". Raises KeyError for another kind."""
    at, generator = KINDS[kind], torch.Generator().manual_seed(seed)
    model = tiny(generator)
    letters = torch.randperm(4, generator=generator) + len(SPECIAL_TOKENS)
    src, tgt = letters[:2].tolist(), letters[2:].tolist()
    row = 1 if kind == "decoder" else int(torch.randint(3, (), generator=generator))  # the second token attends to two of three
    stages = record(model, src, [*tgt, EOS])
    source, fed = (tuple(TOKENS[id] for id in stages[f"{side}.ids"].values) for side in ("src", "tgt"))
    queries, keys = {"encoder": (source, source), "decoder": (fed, fed), "cross": (fed, source)}[kind]
    x = stages[stages[f"{at}.residual"].inputs[0]].values
    tables = (
        _make_table("X", queries, x),
        _make_table("Q", queries, stages[f"{at}.q"].values[0]),
        _make_table("K", keys, stages[f"{at}.k"].values[0]),
        _make_table("V", keys, stages[f"{at}.v"].values[0]),
        _make_table("W_O", (), model.get_submodule(f"{at}.W_o").weight.detach().numpy().T),
    )
    return Worksheet(seed, kind, queries, keys, row, tables, tuple(_make_task(model, stages, f"{at}.{name}", row) for name in TASKS))


def tiny(generator: torch.Generator) -> Transformer:
    """Creates a model whose matrices hold tenths from -1 to 1; the gains of its norms stay 1."""
    model = Transformer(CONFIG, len(TOKENS), len(TOKENS)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.copy_(torch.randint(-10, 11, parameter.shape, generator=generator) / 10)
    return model


def _make_task(model: Transformer, stages: dict[str, Stage], address: str, row: int) -> WorksheetTask:
    """Creates the task of all cells of one row of a stage."""
    stage = stages[address]
    first = (0, row) if stage.axes[0] == "H" else (row,)
    derivations = [explain(model, stages, address, (*first, column)) for column in range(stage.values.shape[-1])]
    key, values = formula(model.config, stage)
    boxes = [Box(f"{TASKS[stage.name]}_{n}", _round(cell.recorded), _write_formula(cell)) for n, cell in enumerate(derivations, 1)]
    return WorksheetTask(stage.name, key, values, _shared_boxes(derivations[0]), tuple(boxes))


def _shared_boxes(derivation: Derivation) -> tuple[Box, ...]:
    """Returns the boxes of numbers that all cells of a row share: the exponentials and their sum, or mean, variance and deviation."""
    results = {step.key.removeprefix("map.why_"): _round(step.result) for step in derivation.steps}
    if derivation.operation == "exp":
        powers = [Box(f"exp({TASKS['masked']}_{term.left.index[-1] + 1} - max)", _round(term.part), "") for term in derivation.terms]
        return (Box("max", results["largest"], ""), *powers, Box("Σ", results["normaliser"], ""))
    if derivation.operation == "square":
        names = {"mean": "μ", "variance": "σ²", "deviation": "√(σ² + ε)"}
        return tuple(Box(name, results[key], "") for key, name in names.items())
    return ()


def _write_formula(derivation: Derivation) -> str:
    """Formats the arithmetic of one cell in one line, with the sheet's decimals: a sum of products, or the line that makes the number (a
    gain is 1 here and changes nothing)."""
    if derivation.operation == "product":
        text = " + ".join(f"{bracket(term.left_value)} × {bracket(term.right_value)}" for term in derivation.terms)
    else:
        text = [step.text for step in derivation.steps if step.key != "map.why_gain"][-1]
    return re.sub(r"\d+\.\d+", lambda number: _round(number[0]), text)


def _round(number: str) -> str:
    """Rounds a printed number to the sheet's decimals."""
    if "e" in number:
        return number
    text = f"{float(number):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _make_table(symbol: str, names: tuple[str, ...], values: np.ndarray) -> WorksheetTable:
    return WorksheetTable(symbol, names, tuple(tuple(_round(str(value)) for value in row) for row in values.tolist()))


PATH = "worksheet"  # under the prefix of the routes; the map links to it
POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}


def render_page(parameters: Mapping[str, str], stylesheet: str) -> str:
    """Renders the sheet of `seed` and `kind` as HTML, with the answers when `key` is 1; other parameters are ignored."""
    text, kind = parameters.get("seed", ""), parameters.get("kind", "")
    seed = min(int(text), MAX_SEED) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    sheet = worksheet(seed, kind if kind in KINDS else next(iter(KINDS)))
    return _Renderer(sheet, language(parameters), parameters.get("key") == "1").render_html(stylesheet)


class _Renderer:
    """Renders one sheet in one language, with or without its key."""

    def __init__(self, sheet: Worksheet, language: str, key: bool) -> None:
        self.sheet, self.language, self.key = sheet, language, key

    def say(self, name: str, **values: object) -> str:
        return _typeset(escape(say(self.language, f"map.worksheet_{name}", **values)))

    def render_html(self, stylesheet: str) -> str:
        sheet, title = self.sheet, self.say("key_title" if self.key else "number", seed=self.sheet.seed)
        name = "" if self.key else f"{self.say('name')} <span></span>"
        about = self.say("about", token=sheet.queries[sheet.row], row=sheet.row + 1)
        tasks = "".join(self.render_task(task) for task in sheet.tasks)
        return f"""<!doctype html>
<html lang="{self.language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {self.say("title")}</title>
<link rel="stylesheet" href="{escape(stylesheet)}">
</head>
<body>
{self.render_controls()}
<main>
<header><h1>{self.say("title")}</h1><p class="number">{title}</p><p class="name">{name}</p></header>
<h2>{self.say(f"kind_{sheet.kind}")}</h2>
<p>{about} {self.say("rounding")}</p>
<section class="given" aria-label="{self.say("given")}">{"".join(self.render_table(table) for table in sheet.tables)}</section>
<ol>{tasks}</ol>
</main>
</body>
</html>
"""

    def render_controls(self) -> str:
        """Renders the form for another number, another attention and the key; hidden in print."""
        kinds = "".join(
            f'<option value="{kind}"{" selected" if kind == self.sheet.kind else ""}>{self.say(f"kind_{kind}")}</option>' for kind in KINDS
        )
        return f"""<form action="{PATH}" method="get">
<label>{self.say("seed")} <input type="number" name="seed" min="0" max="{MAX_SEED}" value="{self.sheet.seed}"></label>
<label>{self.say("kind")} <select name="kind">{kinds}</select></label>
<label><input type="checkbox" name="key" value="1"{" checked" if self.key else ""}> {self.say("with_key")}</label>
<input type="hidden" name="lang" value="{self.language}"><button>{self.say("show")}</button>
<p>{self.say("print")}</p>
</form>"""

    def render_table(self, table: WorksheetTable) -> str:
        """Renders given numbers, with the row in question highlighted."""
        rows = []
        for at, row in enumerate(table.rows):
            head = f'<th scope="row">{escape(table.names[at])}</th>' if table.names else ""
            row_class = ' class="asked"' if table.symbol in ("X", "Q") and at == self.sheet.row else ""
            rows.append(f"<tr{row_class}>{head}{''.join(f'<td>{_format(number)}</td>' for number in row)}</tr>")
        return f"<table><caption><b>{_typeset(table.symbol)}</b> {self.say(table.symbol)}</caption>{''.join(rows)}</table>"

    def render_task(self, task: WorksheetTask) -> str:
        sheet = self.sheet
        visible_tokens = [token for token, box in zip(sheet.keys, sheet.tasks[2].boxes, strict=True) if box.answer != "-1e30"]
        instruction = self.say(task.name, row=sheet.row + 1, seen=", ".join(visible_tokens))
        formula = _typeset(escape(say(self.language, task.key, **task.values)))
        boxes = [f'<div class="boxes">{"".join(map(self.render_box, row))}</div>' for row in (task.way, task.boxes) if row]
        lines = "".join(f"<li>{_typeset(_format(box.name))} = {_format(box.line)} = {_format(box.answer)}</li>" for box in task.boxes)
        key = f'<ul class="key">{lines}</ul>' if self.key else ""
        return f'<li class="task"><p>{instruction} <span class="formula">{formula}</span></p>{"".join(boxes)}{key}</li>'

    def render_box(self, box: Box) -> str:
        return f"<label><span>{_typeset(_format(box.name))}</span><output>{_format(box.answer) if self.key else ''}</output></label>"


def _typeset(text: str) -> str:
    """Sets the index of W_Q as a subscript; the text is escaped already."""
    return re.sub(r"([A-Za-zα]+[′″]?)_(\w+)", r"<i>\1</i><sub>\2</sub>", text)


def _format(text: str) -> str:
    """Formats digits as written by hand: a true minus, and the mask's number as a power of ten."""
    return escape(text.replace("-1e30", "-10³⁰").replace("-", "−"))
