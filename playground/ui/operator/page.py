"""The operator's page, without scripts: tables that reload themselves, and forms to log in and to stop a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from playground.logs import pseudonym
from playground.runs.housekeeping import megabytes
from playground.runs.run import Run
from playground.ui.assets import asset_version
from playground.ui.operator.facts import Facts
from playground.words import LANGUAGES, paragraph, say

POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
REFRESH_S = 10  # between two reloads
MAX_ERRORS = 50  # rows of the table of errors
HIDDEN = ("time", "level", "event", "logger")  # log fields that have their own columns, or are not worth showing


def login_form(language: str, wrong: str = "") -> str:
    """Returns the login form; with the sentence of a refusal in `wrong`."""
    page = _Page(language)
    alert = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    return page.html(
        f'{alert}<form method="post" action="operator?lang={language}"><label>{page.say("token")} '
        f'<input type="password" name="token" required autofocus autocomplete="current-password"></label>'
        f"<button>{page.say('enter')}</button></form>"
    )


def stop_form(language: str, run: Run) -> str:
    """Returns the form that confirms stopping a run."""
    page, alias = _Page(language), pseudonym(run.id)
    return page.html(
        f"<p>{page.say('stop_sure', name=run.name, run=alias, owner=pseudonym(run.owner), step=f'{run.step:,}')}</p>"
        f'<form method="post" action="operator?lang={language}"><input type="hidden" name="stop" value="{alias}">'
        f'<button class="danger">{page.say("stop")}</button> <a href="operator?lang={language}">{page.say("back")}</a></form>'
    )


def dashboard(language: str, facts: Facts, still: bool) -> str:
    """Returns the whole page, reloaded every REFRESH_S unless it is `still`."""
    page = _Page(language)
    parts = (page.server(facts), page.at_work(facts), page.owners(facts), page.memory(facts), page.limits(facts), page.errors(facts))
    return page.html(page.controls(still) + "".join(parts), None if still else REFRESH_S)


class _Page:
    """Formats the page in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, name: str, /, **values: object) -> str:
        return escape(say(self.language, f"operator.{name}", **values))

    def html(self, body: str, refresh: int | None = None) -> str:
        reload_tag = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
        language_links = "".join(
            f' <a href="operator?lang={other}" lang="{say(other, "language.html")}">{escape(say(other, "language.name"))}</a>'
            for other in LANGUAGES
            if other != self.language
        )
        return f"""<!doctype html>
<html lang="{say(self.language, "language.html")}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">{reload_tag}
<title>{self.say("title")}</title>
<link rel="stylesheet" href="asset/{asset_version()}/operator.css">
</head>
<body>
<header><h1>{self.say("title")}</h1><nav>{language_links}</nav></header>
<main>{body}</main>
</body>
</html>
"""

    def controls(self, still: bool) -> str:
        now = time.strftime("%H:%M:%S", time.gmtime())
        key, query = ("go_on", "") if still else ("hold", "&amp;still=1")
        return (
            f'<form class="controls" method="post" action="operator?lang={self.language}"><span>{self.say("now", time=now)}</span>'
            f'<a href="operator?lang={self.language}{query}">{self.say(key)}</a>'
            f'<button name="leave" value="1">{self.say("leave")}</button></form>'
        )

    def server(self, facts: Facts) -> str:
        health, memory, disk, processes = facts.health, *(facts.health[name] for name in ("memory", "disk", "processes"))
        reasons = paragraph(self.say(f"reason_{reason}") for reason in health["reasons"])
        numbers = {
            "status": paragraph([self.say("status_" + health["status"]), reasons]),
            "cores": facts.cores,
            "workers": self.say("workers_are", **health["workers"]),
            "processes": self.say("processes_are", ready=processes["ready"], held=megabytes(processes["held"] or 0)),
            "memory": self.of(memory["used"], memory["limit"]),
            "held": "–" if memory["held"] is None else self.size(memory["held"]),
            "waiting": health["runs"]["waiting"],
            "disk_free": "–" if disk["free"] is None else self.size(disk["free"]),
            "kept": self.say("of", count=f"{facts.stored_runs[0]:,}", most=f"{facts.stored_runs[1]:,}"),
            "kept_bytes": self.of(*facts.stored_bytes),
            "by_status": ", ".join(f"{say(self.language, f'runs.status_{name}')}: {n}" for name, n in facts.by_status.items()) or "–",
            "sessions": facts.counts.get("sessions", "–"),
            "streams": facts.counts.get("streams", "–"),
            "readers_lost": facts.counts.get("readers_lost", "–"),
        }
        rows = "".join(f"<div><dt>{self.say(f'server_{name}')}</dt><dd>{value}</dd></div>" for name, value in numbers.items())
        return f'<section><h2>{self.say("server")}</h2><dl class="{health["status"]}">{rows}</dl></section>'

    def at_work(self, facts: Facts) -> str:
        rows = [
            [
                f"{escape(run.name)} <code>{pseudonym(run.id)}</code>",
                f"<code>{pseudonym(run.owner)}</code>",
                escape(say(self.language, f"runs.status_{run.status}")) + (f" ({run.place})" if run.place else ""),
                f"{run.step:,} / {run.steps:,}",
                self.say("minutes", count=f"{run.unseen_seconds / 60:.0f}"),
                f'<a href="operator?lang={self.language}&amp;stop={pseudonym(run.id)}">{self.say("stop")}</a>',
            ]
            for run in facts.at_work
        ]
        return self.table("at_work", ("run", "owner", "status", "step", "unseen", "action"), rows)

    def owners(self, facts: Facts) -> str:
        rows = [[f"<code>{owner.alias}</code>", owner.runs, owner.unfinished, self.size(owner.bytes)] for owner in facts.owners]
        return self.table("owners", ("owner", "runs", "unfinished", "on_disk"), rows)

    def memory(self, facts: Facts) -> str:
        shares = sorted(facts.health["memory"]["shares"].items(), key=lambda share: -share[1])
        rows = [[f"<code>{escape(name)}</code>", self.size(size)] for name, size in shares if size]
        return self.table("memory", ("share", "size"), rows)

    def limits(self, facts: Facts) -> str:
        return self.table("limits", ("reason", "count"), [[f"<code>{escape(key)}</code>", n] for key, n in facts.limits_hit.most_common()])

    def errors(self, facts: Facts) -> str:
        rows = [[escape(line["time"][:19]), f"<code>{escape(line['event'])}</code>", _details(line)] for line in facts.errors[:MAX_ERRORS]]
        return self.table("errors", ("time", "event", "details"), rows)

    def table(self, name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
        """Returns a table, with the column's name at every cell for a narrow screen, where cells stack."""
        titles = [self.say(f"head_{column}") for column in head]
        cells = ""
        for row in rows:
            row_cells = (f'<td data-head="{title}">{cell}</td>' for title, cell in zip(titles, row, strict=True))
            cells += f"<tr>{''.join(row_cells)}</tr>"
        heads = "".join(f'<th scope="col">{title}</th>' for title in titles)
        body = f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>" if cells else f"<p>{self.say('none')}</p>"
        return f'<section id="{name}"><h2>{self.say(name)}</h2>{body}</section>'

    def of(self, used: int, most: int) -> str:
        return self.say("of_megabytes", count=megabytes(used), most=megabytes(most))

    def size(self, size: int) -> str:
        return self.say("megabytes", count=megabytes(size))


def _details(line: dict[str, Any]) -> str:
    return escape(" ".join(f"{name}={value}" for name, value in line.items() if name not in HIDDEN))
