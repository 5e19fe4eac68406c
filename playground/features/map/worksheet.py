"""The worksheet as a printable page: …/worksheet?seed=7&kind=decoder&key=1&lang=zh. No script, no external resources."""

import re
from collections.abc import Mapping
from html import escape

from playground.features.shared.view import language
from playground.inspection.worksheet import KINDS, MAX_SEED, Box, Worksheet, WorksheetTable, WorksheetTask, worksheet
from playground.words import say

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
