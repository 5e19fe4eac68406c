"""The operator's page: tables that load themselves anew, and the two forms by which one comes in and stops a run. No script."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from playground.logs import pseudonym
from playground.runs.retention import megabytes
from playground.runs.run import Run
from playground.ui.assets import asset_version
from playground.ui.operator.facts import Facts
from playground.words import LANGUAGES, paragraph, say

POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
SECONDS = 10  # until it is loaded anew
MOST_LINES = 50  # of errors
HIDDEN = ("time", "level", "event", "logger")  # of a line of the log: they have columns of their own, or say nothing here


def form(language: str, wrong: str = "") -> str:
    """By which one comes in; with the sentence of what was `wrong`."""
    page = _Page(language)
    said = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    return page.html(
        f'{said}<form method="post" action="operator?lang={language}"><label>{page.say("token")} '
        f'<input type="password" name="token" required autofocus autocomplete="current-password"></label>'
        f"<button>{page.say('enter')}</button></form>"
    )


def question(language: str, run: Run) -> str:
    """Whether to stop this run."""
    page, called = _Page(language), pseudonym(run.id)
    return page.html(
        f"<p>{page.say('stop_sure', name=run.name, run=called, owner=pseudonym(run.owner), step=f'{run.step:,}')}</p>"
        f'<form method="post" action="operator?lang={language}"><input type="hidden" name="stop" value="{called}">'
        f'<button class="danger">{page.say("stop")}</button> <a href="operator?lang={language}">{page.say("back")}</a></form>'
    )


def shown(language: str, found: Facts, still: bool) -> str:
    """Everything, loaded anew every SECONDS unless it is to be `still`."""
    page = _Page(language)
    parts = (page.server(found), page.at_work(found), page.owners(found), page.memory(found), page.limits(found), page.errors(found))
    return page.html(page.controls(still) + "".join(parts), None if still else SECONDS)


class _Page:
    """In one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, name: str, /, **values: object) -> str:
        return escape(say(self.language, f"operator.{name}", **values))

    def html(self, body: str, refresh: int | None = None) -> str:
        again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
        others = "".join(
            f' <a href="operator?lang={other}" lang="{say(other, "language.html")}">{escape(say(other, "language.name"))}</a>'
            for other in LANGUAGES
            if other != self.language
        )
        return f"""<!doctype html>
<html lang="{say(self.language, "language.html")}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">{again}
<title>{self.say("title")}</title>
<link rel="stylesheet" href="asset/{asset_version()}/operator.css">
</head>
<body>
<header><h1>{self.say("title")}</h1><nav>{others}</nav></header>
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

    def server(self, found: Facts) -> str:
        health, memory, disk, processes = found.health, *(found.health[name] for name in ("memory", "disk", "processes"))
        reasons = paragraph(self.say(f"reason_{reason}") for reason in health["reasons"])
        numbers = {
            "status": paragraph([self.say("status_" + health["status"]), reasons]),
            "cores": found.cores,
            "workers": self.say("workers_are", **health["workers"]),
            "processes": self.say("processes_are", ready=processes["ready"], held=megabytes(processes["held"] or 0)),
            "memory": self.of(memory["used"], memory["limit"]),
            "held": "–" if memory["held"] is None else self.size(memory["held"]),
            "waiting": health["runs"]["waiting"],
            "disk_free": "–" if disk["free"] is None else self.size(disk["free"]),
            "kept": self.say("of", count=f"{found.kept[0]:,}", most=f"{found.kept[1]:,}"),
            "kept_bytes": self.of(*found.kept_bytes),
            "by_status": ", ".join(f"{say(self.language, f'runs.status_{name}')}: {n}" for name, n in found.by_status.items()) or "–",
            "sessions": found.counts.get("sessions", "–"),
            "streams": found.counts.get("streams", "–"),
            "readers_lost": found.counts.get("readers_lost", "–"),
        }
        rows = "".join(f"<div><dt>{self.say(f'server_{name}')}</dt><dd>{value}</dd></div>" for name, value in numbers.items())
        return f'<section><h2>{self.say("server")}</h2><dl class="{health["status"]}">{rows}</dl></section>'

    def at_work(self, found: Facts) -> str:
        rows = [
            [
                f"{escape(run.name)} <code>{pseudonym(run.id)}</code>",
                f"<code>{pseudonym(run.owner)}</code>",
                escape(say(self.language, f"runs.status_{run.status}")) + (f" ({run.place})" if run.place else ""),
                f"{run.step:,} / {run.steps:,}",
                self.say("minutes", count=f"{run.unseen_seconds / 60:.0f}"),
                f'<a href="operator?lang={self.language}&amp;stop={pseudonym(run.id)}">{self.say("stop")}</a>',
            ]
            for run in found.at_work
        ]
        return self.table("at_work", ("run", "owner", "status", "step", "unseen", "action"), rows)

    def owners(self, found: Facts) -> str:
        rows = [[f"<code>{one.called}</code>", one.runs, one.unfinished, self.size(one.bytes)] for one in found.owners]
        return self.table("owners", ("owner", "runs", "unfinished", "on_disk"), rows)

    def memory(self, found: Facts) -> str:
        shares = sorted(found.health["memory"]["shares"].items(), key=lambda share: -share[1])
        rows = [[f"<code>{escape(name)}</code>", self.size(size)] for name, size in shares if size]
        return self.table("memory", ("share", "size"), rows)

    def limits(self, found: Facts) -> str:
        return self.table("limits", ("reason", "count"), [[f"<code>{escape(key)}</code>", n] for key, n in found.limits_hit.most_common()])

    def errors(self, found: Facts) -> str:
        rows = [[escape(said["time"][:19]), f"<code>{escape(said['event'])}</code>", _rest(said)] for said in found.errors[:MOST_LINES]]
        return self.table("errors", ("time", "event", "details"), rows)

    def table(self, name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
        """With the name of its column at every cell, for where the rows stand one below the other."""
        named = [self.say(f"head_{column}") for column in head]
        cells = ""
        for row in rows:
            told = (f'<td data-head="{title}">{cell}</td>' for title, cell in zip(named, row, strict=True))
            cells += f"<tr>{''.join(told)}</tr>"
        heads = "".join(f'<th scope="col">{title}</th>' for title in named)
        body = f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>" if cells else f"<p>{self.say('none')}</p>"
        return f'<section id="{name}"><h2>{self.say(name)}</h2>{body}</section>'

    def of(self, used: int, most: int) -> str:
        return self.say("of_megabytes", count=megabytes(used), most=megabytes(most))

    def size(self, size: int) -> str:
        return self.say("megabytes", count=megabytes(size))


def _rest(said: dict[str, Any]) -> str:
    return escape(" ".join(f"{name}={value}" for name, value in said.items() if name not in HIDDEN))
