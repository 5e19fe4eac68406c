"""How the operator's page and the metrics are asked for. Where nobody is the operator, none of these addresses is there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import parse_qs

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from playground.config import Refusal
from playground.logs import pseudonym, recent
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.command import same_origin
from playground.ui.gate import not_there
from playground.ui.operator import page
from playground.ui.operator.entry import Entry
from playground.ui.operator.facts import Counts, facts
from playground.ui.operator.metrics import metrics
from playground.words import preferred

PATH = f"{PREFIX}/operator"
METRICS = ("/metrics", f"{PREFIX}/metrics")  # a Space forwards only addresses that begin as Gradio's do
PRIVATE = {"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Content-Security-Policy": page.POLICY}


def routes(runs: Runs, counts: Counts) -> list[Route]:
    """Those of an operator, if there is one; and of the metrics, if PLAYGROUND_METRICS asks for them or there is an operator."""
    entry, is_open = Entry.from_environment(), os.environ.get("PLAYGROUND_METRICS", "") not in ("", "0")
    recent()  # counts from now on

    async def look(request: Request) -> Response:
        language = _language(request)
        if not entry.admits(request):
            return _html(page.form(language))
        asked = _find(runs, request.query_params.get("stop", ""))
        if asked:
            return _html(page.question(language, asked))
        found = await run_in_threadpool(facts, runs, counts)
        return _html(page.shown(language, found, request.query_params.get("still") == "1"))

    async def act(request: Request) -> Response:
        """Enters with a token, leaves, or stops a run; and then shows the page by an address that has none of it."""
        if not same_origin(request.headers):
            return not_there(request)
        try:
            said = parse_qs((await request.body()).decode("utf-8", "replace"))
            given = {name: values[0] for name, values in said.items()}
            answer = RedirectResponse(f"operator?lang={_language(request)}", 303, PRIVATE)
            if "token" in given:
                entry.enter(given["token"], request, answer)
                return answer
            if not entry.admits(request):
                return not_there(request)
            if "leave" in given:
                entry.leave(request, answer)
            elif run := _find(runs, given.get("stop", "")):
                with suppress(Refusal):  # it has just come to an end, as the page will show
                    await run_in_threadpool(runs.stop_for_operator, run.id)
            return answer
        except Refusal as refusal:
            return _html(page.form(_language(request), refusal.say(_language(request))), 403)

    async def measure(request: Request) -> Response:
        if not (is_open or (entry and entry.admits(request))):
            return not_there(request)
        return Response(await run_in_threadpool(metrics, runs, counts), 200, {"Cache-Control": "no-store"}, CONTENT_TYPE_PLAIN_0_0_4)

    mine = [Route(PATH, look, methods=["GET"]), Route(PATH, act, methods=["POST"])] if entry else []
    return mine + ([Route(path, measure, methods=["GET"]) for path in METRICS] if entry or is_open else [])


def absent(routes: Sequence[Route]) -> frozenset[str]:
    """The paths of those that this server does not have."""
    return frozenset((PATH, *METRICS)) - {route.path for route in routes}


def _find(runs: Runs, called: str) -> Run | None:
    """The unfinished run of a pseudonym: ids stand neither on the page nor in an address."""
    return next((run for run in runs.list_unshipped() if called and run.unfinished and pseudonym(run.id) == called), None)


def _language(request: Request) -> str:
    return preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", ""))


def _html(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, PRIVATE)
