"""The worksheet as a page to print: …/worksheet?seed=7&kind=decoder&key=1&lang=zh. No script, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from playground.inspection.worksheet import KINDS, MAX_SEED, Box, Worksheet, WorksheetTable, WorksheetTask, worksheet
from playground.ui.view import language
from playground.words import say

PATH = "worksheet"  # under the prefix of our routes; what the map links to
POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}


def page(parameters: Mapping[str, str], stylesheet: str) -> str:
    """The sheet of `seed` and `kind` as HTML, with the answers when `key` is 1; whatever else the parameters hold is not looked at."""
    text, kind = parameters.get("seed", ""), parameters.get("kind", "")
    seed = min(int(text), MAX_SEED) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    sheet = worksheet(seed, kind if kind in KINDS else next(iter(KINDS)))
    return _Page(sheet, language(parameters), parameters.get("key") == "1").html(stylesheet)


class _Page:
    """One sheet in one language, with or without its key."""

    def __init__(self, sheet: Worksheet, language: str, key: bool) -> None:
        self.sheet, self.language, self.key = sheet, language, key

    def say(self, name: str, **values: object) -> str:
        return _symbols(escape(say(self.language, f"map.worksheet_{name}", **values)))

    def html(self, stylesheet: str) -> str:
        sheet, title = self.sheet, self.say("key_title" if self.key else "number", seed=self.sheet.seed)
        name = "" if self.key else f"{self.say('name')} <span></span>"
        about = self.say("about", token=sheet.queries[sheet.row], row=sheet.row + 1)
        tasks = "".join(self.task(task) for task in sheet.tasks)
        return f"""<!doctype html>
<html lang="{self.language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {self.say("title")}</title>
<link rel="stylesheet" href="{escape(stylesheet)}">
</head>
<body>
{self.controls()}
<main>
<header><h1>{self.say("title")}</h1><p class="number">{title}</p><p class="name">{name}</p></header>
<h2>{self.say(f"kind_{sheet.kind}")}</h2>
<p>{about} {self.say("rounding")}</p>
<section class="given" aria-label="{self.say("given")}">{"".join(self.table(table) for table in sheet.tables)}</section>
<ol>{tasks}</ol>
</main>
</body>
</html>
"""

    def controls(self) -> str:
        """Another number, another attention, the key: a plain form, left out on paper."""
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

    def table(self, table: WorksheetTable) -> str:
        """Numbers that are given; the row that is worked on stands out."""
        rows = []
        for at, row in enumerate(table.rows):
            head = f'<th scope="row">{escape(table.names[at])}</th>' if table.names else ""
            asked = ' class="asked"' if table.symbol in ("X", "Q") and at == self.sheet.row else ""
            rows.append(f"<tr{asked}>{head}{''.join(f'<td>{_number(number)}</td>' for number in row)}</tr>")
        return f"<table><caption><b>{_symbols(table.symbol)}</b> {self.say(table.symbol)}</caption>{''.join(rows)}</table>"

    def task(self, task: WorksheetTask) -> str:
        sheet = self.sheet
        seen = [token for token, box in zip(sheet.keys, sheet.tasks[2].boxes, strict=True) if box.answer != "-1e30"]
        told = self.say(task.name, row=sheet.row + 1, seen=", ".join(seen))
        said = _symbols(escape(say(self.language, task.key, **task.values)))
        boxes = [f'<div class="boxes">{"".join(map(self.box, row))}</div>' for row in (task.way, task.boxes) if row]
        lines = "".join(f"<li>{_symbols(_number(box.name))} = {_number(box.line)} = {_number(box.answer)}</li>" for box in task.boxes)
        key = f'<ul class="key">{lines}</ul>' if self.key else ""
        return f'<li class="task"><p>{told} <span class="formula">{said}</span></p>{"".join(boxes)}{key}</li>'

    def box(self, box: Box) -> str:
        return f"<label><span>{_symbols(_number(box.name))}</span><output>{_number(box.answer) if self.key else ''}</output></label>"


def _symbols(text: str) -> str:
    """W_Q with its index set low; the text is escaped already."""
    return re.sub(r"([A-Za-zα]+[′″]?)_(\w+)", r"<i>\1</i><sub>\2</sub>", text)


def _number(text: str) -> str:
    """Digits as a person writes them: a true minus, and the mask's number as a power of ten."""
    return escape(text.replace("-1e30", "-10³⁰").replace("-", "−"))
