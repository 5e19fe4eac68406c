"""Worksheets as printable pages: …/worksheet?seed=7&kind=decoder&key=1&lang=zh. No script, no external resources.

Those of attention are of tiny models; the others have numbers of the run, step and sentence on screen.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

import numpy as np

from playground.config import EOS, Refusal
from playground.decoding.model_decoder import next_logprobs
from playground.features.shared.figures.tokens import visible
from playground.features.shared.naming import name as name_run
from playground.features.shared.view import View, language
from playground.inspection.arithmetic import bracket
from playground.inspection.edits import norm_module
from playground.inspection.worksheet import KINDS, MAX_SEED, Box, Worksheet, WorksheetTable, WorksheetTask, worksheet
from playground.lessons.labs.tokens import encode, learn, words_of
from playground.model.transformer import Transformer
from playground.words import known, paragraph, say

PATH = "worksheet"  # under the prefix of the routes; the map links to it
POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}


COUNT = 4  # logits, dimensions, merges of a sheet
WIDTH, TOKENS = 2, 3  # of the beam, and continuations of each hypothesis
WORDS = 8  # from which merges are learnt
EPSILON = 1e-5  # of torch's layer norm
ROUNDED = "{:.4f}".format
Drawn = tuple[list[WorksheetTable], dict[str, list[Box]], dict[str, object]]  # tables, tasks, values of the texts


def render_page(parameters: Mapping[str, str], stylesheet: str, view: Callable[[], View]) -> str:
    """Renders the sheet of `seed` and `kind` as HTML, with the answers when `key` is 1; other parameters are those of `view`, which opens
    the run on screen where its numbers are needed. A run without them is answered with a sentence."""
    text, kind = parameters.get("seed", ""), parameters.get("kind", "")
    seed = min(int(text), MAX_SEED) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    try:
        sheet = draw_sheet(view(), kind, seed) if kind in RUN_SHEETS else worksheet(seed, kind if kind in KINDS else next(iter(KINDS)))
    except Refusal as refusal:
        sheet = Worksheet(seed, kind, (), (), {"refusal": refusal.say(language(parameters))})
    return _Renderer(sheet, parameters).render_html(stylesheet)


def _boxes(name: str, answers: Sequence[float], lines: Iterable[str]) -> list[Box]:
    """Boxes of numbers, numbered if there are several, each with its arithmetic."""
    names = [f"{name}_{n}" for n in range(1, len(answers) + 1)] if len(answers) > 1 else [name]
    return [Box(each, ROUNDED(answer), line) for each, answer, line in zip(names, answers, lines, strict=True)]


def _table(symbol: str, names: Sequence[str], numbers: Iterable[float]) -> WorksheetTable:
    return WorksheetTable(symbol, tuple(names), tuple((ROUNDED(number),) for number in numbers))


def make_loss(view: View, seed: int) -> Drawn:
    """Softmax, cross-entropy and p - y of the likeliest tokens; sheet 1 is of the position of which the model is least certain."""
    forward = view.activations
    row = int(forward.stages["probabilities"].values.max(-1).argsort()[(seed - 1) % len(forward.targets)])
    logits, right = forward.stages["logits"].values[row].astype(float), forward.targets[row].id
    ids = [id for id in (-logits).argsort().tolist() if id != right][: COUNT - 1]
    ids = sorted([*ids, right], key=lambda id: -logits[id])
    powers = np.exp(logits - logits.max())
    total, p, y = powers.sum(), powers[ids] / powers.sum(), [int(id == right) for id in ids]
    z, e, shares = ([*map(ROUNDED, numbers)] for numbers in (logits[ids], powers[ids], p))
    rest, chance, name = ROUNDED(total - powers[ids].sum()), p[ids.index(right)], visible(forward.targets[row].text)
    tasks = {
        "e_i = exp(z_i − max z)": _boxes("e", powers[ids], [f"exp({each} - {bracket(z[0])})" for each in z]),
        f"Σ = {' + '.join(f'e_{n}' for n, _ in enumerate(ids, 1))} + R": _boxes("Σ", [total], [" + ".join([*e, rest])]),
        "p_i = e_i / Σ": _boxes("p", p, [f"{each} ÷ {ROUNDED(total)}" for each in e]),
        f"L = −ln p({name})": _boxes("L", [-math.log(chance)], [f"-ln {ROUNDED(chance)}"]),
        f"g_i = ∂L/∂z_i = p_i − y_i, y({name}) = 1": _boxes(
            "g", p - y, [f"{each} - {label}" for each, label in zip(shares, y, strict=True)]
        ),
    }
    names = [visible(view.run.tokenizers[1].piece(id)) for id in ids]
    tables = [_table("z", names, logits[ids]), _table("R", (), [float(rest)])]
    return tables, tasks, {"token": visible(forward.fed[row].text), "right": name}


def make_norm(view: View, seed: int) -> Drawn:
    """The first layer norm of one token; sums over all its numbers are given."""
    forward = view.activations
    stage = next((stage for stage in forward.stages.values() if stage.name == "norm"), None)
    if stage is None:
        raise Refusal("map.worksheet_no_norm")
    module, row = norm_module(stage.address), (seed - 1) % len(stage.values)

    def read_parameters(model: Transformer, _: int) -> list[np.ndarray]:
        norm = model.get_submodule(module)
        return [parameter.detach().numpy() for parameter in (norm.weight, 0 * norm.weight if norm.bias is None else norm.bias)]

    gain, shift = view.reader.work(view.run, view.step, ("norm", module), read_parameters)
    x = forward.stages[stage.inputs[0]].values[row].astype(float)
    mean, variance, size = x.mean(), x.var(), len(x)
    deviation, sums, eps = math.sqrt(variance + EPSILON), [x.sum(), (x**2).sum()], f"{EPSILON:.5f}"
    vectors = {"x": x[:COUNT], "γ": gain[:COUNT], "β": shift[:COUNT]}
    tables = [_table(name, (), vector) for name, vector in vectors.items()]
    normed = (vectors["x"] - mean) / deviation
    centred = [f"({each} - {bracket(ROUNDED(mean))}) ÷ {ROUNDED(deviation)}" for (each,) in tables[0].rows]
    rows = zip(tables[1].rows, map(ROUNDED, normed), tables[2].rows, strict=True)
    tasks = {
        f"μ = Σx / {size}": _boxes("μ", [mean], [f"{ROUNDED(sums[0])} ÷ {size}"]),
        f"σ² = Σx² / {size} − μ²": _boxes("σ²", [variance], [f"{ROUNDED(sums[1])} ÷ {size} - {ROUNDED(mean**2)}"]),
        f"σ = √(σ² + {eps})": _boxes("σ", [deviation], [f"√({ROUNDED(variance)} + {eps})"]),
        "x̂_i = (x_i − μ) / σ": _boxes("x̂", normed, centred),
        "n_i = γ_i x̂_i + β_i": _boxes("n", stage.values[row, :COUNT], [f"{g} × {bracket(n)} + {bracket(b)}" for (g,), n, (b,) in rows]),
    }
    token = (forward.source if stage.part == "encoder" else forward.fed)[row].text
    return [*tables, _table("", ("Σx", "Σx²"), sums)], tasks, {"token": visible(token), "stage": stage.address}


def make_beam(view: View, seed: int) -> Drawn:
    """Two steps of a beam search behind the first tokens of the target, with the log probabilities also of what is dropped."""
    forward, tokenizer = view.activations, view.run.tokenizers[1]
    fed = tuple(piece.id for piece in forward.fed[: (seed - 1) % len(forward.fed) + 1])
    source = [piece.id for piece in forward.source[:-1]]

    def extend(model: Transformer, paths: Sequence[tuple[int, ...]]) -> list[dict[tuple[int, ...], float]]:
        """Returns of each path its likeliest continuations, with the log probabilities of their last tokens in nats."""
        likeliest = next_logprobs(model, source, [[*fed, *path] for path in paths]).topk(TOKENS)
        rows = zip(paths, likeliest.values.tolist(), likeliest.indices.tolist(), strict=True)
        return [{(*path, id): value for id, value in zip(ids, values, strict=True)} for path, values, ids in rows]

    def rank_paths(model: Transformer, _: int) -> list[dict[tuple[int, ...], float]]:
        (first,) = extend(model, [()])
        return [first, *extend(model, [path for path in first if path[-1] != EOS])]

    groups = view.reader.work(view.run, view.step, ("two steps", view.text, fed), rank_paths)
    groups = [{path: round(value, 4) for path, value in group.items()} for group in groups]  # as printed: the key adds these
    first, logs = groups[0], {path: value for group in groups for path, value in group.items()}
    totals = {path: value + first.get(path[:-1], 0.0) for path, value in logs.items()}
    beam = [*first][:WIDTH]
    grown = [path for path in totals if path[:1] in beam and (len(path) == 2 or path[-1] == EOS)]

    def name(path: Iterable[int]) -> str:
        return " ".join(visible(tokenizer.piece(id)) for id in path)

    def keep(paths: list[tuple[int, ...]]) -> list[Box]:
        return [Box(f"{n}.", name(path), "") for n, path in enumerate(paths, 1)]

    def add(path: tuple[int, ...]) -> Box:
        line = f"{bracket(ROUNDED(first[path[:1]]))} + {bracket(ROUNDED(logs[path]))}"
        return Box(name(path), ROUNDED(totals[path]), line) if path in grown else Box(name(path), "–", "")

    tables = [_table("log p", [*map(name, group)], group.values()) for group in groups]
    best = sorted(grown, key=lambda path: -totals[path])[:WIDTH]
    tasks = {"kept": keep(beam), "Σ log p": [add(path) for path in totals if len(path) == 2], "kept_two": keep(best)}
    return tables, tasks, {"prefix": name(fed)}


def make_bpe(view: View, seed: int) -> Drawn:
    """The first merges of byte-pair encoding in some words of the run's held-out sentences, and the pieces of the next word."""
    every = [word for source, _ in view.examples() for word in source.split()]
    rest = [every[(WORDS * (seed - 1) + n) % len(every)] for n in range(len(every))]
    chosen = rest[:WORDS]
    text = (" ".join(chosen),)
    merges = [merge for merge in learn(text, COUNT) if merge[1] > 1]
    word = next((word for word in rest if word not in chosen and len(encode(word, merges)) > 1), rest[-1])  # some of it is merged
    words = words_of(text)
    table = WorksheetTable("", tuple(" ".join(pieces) for pieces in words), tuple((str(count),) for count in words.values()))
    tasks = {
        "merges": [Box(f"{n}.", f"{first} + {second} ({count})", "") for n, ((first, second), count) in enumerate(merges, 1)],
        "pieces": [Box(word, " ".join(encode(word, merges)[-1]), "")],
    }
    return [table], tasks, {}


RUN_SHEETS = {"loss": make_loss, "norm": make_norm, "beam": make_beam, "bpe": make_bpe}


def draw_sheet(view: View, kind: str, seed: int) -> Worksheet:
    """Returns a sheet of the run on screen. The name of its task is a formula, or the key of an instruction."""
    tables, tasks, values = RUN_SHEETS[kind](view, seed)
    values |= {"run": name_run(view.run, view.language, view.token), "step": view.activations.step, "text": view.text}
    return Worksheet(seed, kind, tuple(tables), tuple(WorksheetTask(name, tuple(boxes)) for name, boxes in tasks.items()), values)


class _Renderer:
    """Renders one sheet in one language, with or without its key."""

    def __init__(self, sheet: Worksheet, parameters: Mapping[str, str]) -> None:
        self.sheet, self.language, self.key = sheet, language(parameters), parameters.get("key") == "1"
        self.hidden = {name: parameters.get(name, "") for name in ("run", "step", "text", "target")} | {"lang": self.language}

    def say(self, name: str, **values: object) -> str:
        return _typeset(escape(say(self.language, f"map.worksheet_{name}", **values)))

    def render_html(self, stylesheet: str) -> str:
        sheet, number = self.sheet, self.say("key_title" if self.key else "number", seed=self.sheet.seed)
        name = "" if self.key else f"{self.say('name')} <span></span>"
        title = self.say("title") if sheet.kind in KINDS else self.say(f"kind_{sheet.kind}")
        about = self.say("about", **sheet.values) if sheet.kind in KINDS else escape(sheet.values.get("refusal", ""))
        keys = [f"map.worksheet_{key}" for key in ("shown", f"about_{sheet.kind}")]
        about = about or escape(paragraph(say(self.language, key, **sheet.values) for key in keys))
        tasks = "".join(self.render_task(task) for task in sheet.tasks)
        return f"""<!doctype html>
<html lang="{self.language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{number} · {title}</title>
<link rel="stylesheet" href="{escape(stylesheet)}">
</head>
<body>
{self.render_controls()}
<main>
<header><h1>{title}</h1><p class="number">{number}</p><p class="name">{name}</p></header>
{f"<h2>{self.say(f'kind_{sheet.kind}')}</h2>" if sheet.kind in KINDS else ""}
<p>{about} {"" if sheet.kind == "bpe" else self.say("rounding")}</p>
<section class="given" aria-label="{self.say("given")}">{"".join(self.render_table(table) for table in sheet.tables)}</section>
<ol>{tasks}</ol>
</main>
</body>
</html>
"""

    def render_controls(self) -> str:
        """Renders the form for another number, another attention and the key; hidden in print."""
        kinds = "".join(
            f'<option value="{kind}"{" selected" if kind == self.sheet.kind else ""}>{self.say(f"kind_{kind}")}</option>'
            for kind in (*KINDS, *RUN_SHEETS)
        )
        hidden = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in self.hidden.items())
        return f"""<form action="{PATH}" method="get">
<label>{self.say("seed")} <input type="number" name="seed" min="0" max="{MAX_SEED}" value="{self.sheet.seed}"></label>
<label>{self.say("kind")} <select name="kind">{kinds}</select></label>
<label><input type="checkbox" name="key" value="1"{" checked" if self.key else ""}> {self.say("with_key")}</label>
{hidden}<button>{self.say("show")}</button>
<p>{self.say("print")}</p>
</form>"""

    def render_table(self, table: WorksheetTable) -> str:
        """Renders given numbers, with the row in question highlighted."""
        rows = []
        for at, row in enumerate(table.rows):
            head = f'<th scope="row">{escape(table.names[at])}</th>' if table.names else ""
            row_class = ' class="asked"' if table.symbol in ("X", "Q") and at == self.sheet.row else ""
            rows.append(f"<tr{row_class}>{head}{''.join(f'<td>{_format(number)}</td>' for number in row)}</tr>")
        about = self.say(table.symbol) if self.sheet.kind in KINDS else ""
        return f"<table><caption><b>{_typeset(table.symbol)}</b> {about}</caption>{''.join(rows)}</table>"

    def render_task(self, task: WorksheetTask) -> str:
        key = f"map.worksheet_{task.name}"
        instruction = self.say(task.name, **self.sheet.values) if known(self.language, key) else _typeset(escape(task.name))
        formula = _typeset(escape(say(self.language, task.key, **task.values))) if task.key else ""
        boxes = [f'<div class="boxes">{"".join(map(self.render_box, row))}</div>' for row in (task.way, task.boxes) if row]
        derived = [box for box in task.boxes if box.line]
        lines = "".join(f"<li>{_typeset(_format(box.name))} = {_format(box.line)} = {_format(box.answer)}</li>" for box in derived)
        key = f'<ul class="key">{lines}</ul>' if self.key else ""
        return f'<li class="task"><p>{instruction} <span class="formula">{formula}</span></p>{"".join(boxes)}{key}</li>'

    def render_box(self, box: Box) -> str:
        return f"<label><span>{_typeset(_format(box.name))}</span><output>{_format(box.answer) if self.key else ''}</output></label>"


def _typeset(text: str) -> str:
    """Sets the index of W_Q as a subscript; the text is escaped already."""
    return re.sub(r"([A-Za-zαγβ]+[\u0302′″]?)_(\w+)", r"<i>\1</i><sub>\2</sub>", text)


def _format(text: str) -> str:
    """Formats digits as written by hand: a true minus, and the mask's number as a power of ten."""
    return escape(text.replace("-1e30", "-10³⁰").replace("-", "−"))
