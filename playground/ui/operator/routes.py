"""Routes of the operator's page and the metrics. Without an operator's token they don't exist."""

from __future__ import annotations

import os
from contextlib import suppress
from urllib.parse import parse_qs

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from playground.config import Refusal
from playground.logs import pseudonym, recent
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.command import same_origin
from playground.ui.gate import respond_not_found
from playground.ui.operator import page
from playground.ui.operator.entry import Entry
from playground.ui.operator.facts import Counts, collect_facts
from playground.ui.operator.metrics import export_metrics
from playground.ui.rights import PUBLIC, GuardedRoute
from playground.words import preferred

PATH = f"{PREFIX}/operator"
METRICS = ("/metrics", f"{PREFIX}/metrics")  # a Space forwards only addresses that begin as Gradio's do
PRIVATE = {"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Content-Security-Policy": page.POLICY}


def routes(runs: Runs, counts: Counts) -> list[GuardedRoute]:
    """Returns the operator's routes with a token, and the metrics' with PLAYGROUND_METRICS or a token. They check the token themselves."""
    entry, is_open = Entry.from_environment(), os.environ.get("PLAYGROUND_METRICS", "") not in ("", "0")
    recent()  # starts counting

    async def look(request: Request) -> Response:
        language = _language(request)
        if not entry.admits(request):
            return _html(page.login_form(language))
        run = _find_run(runs, request.query_params.get("stop", ""))
        if run:
            return _html(page.stop_form(language, run))
        snapshot = await run_in_threadpool(collect_facts, runs, counts)
        return _html(page.dashboard(language, snapshot, request.query_params.get("still") == "1"))

    async def act(request: Request) -> Response:
        """Logs in with a token, logs out, or stops a run; then redirects to an address without parameters."""
        if not same_origin(request.headers):
            return respond_not_found(request)
        try:
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            fields = {name: values[0] for name, values in form.items()}
            response = RedirectResponse(f"operator?lang={_language(request)}", 303, PRIVATE)
            if "token" in fields:
                entry.enter(fields["token"], request, response)
                return response
            if not entry.admits(request):
                return respond_not_found(request)
            if "leave" in fields:
                entry.leave(request, response)
            elif run := _find_run(runs, fields.get("stop", "")):
                with suppress(Refusal):  # the run has just ended, as the page will show
                    await run_in_threadpool(runs.stop_for_operator, run.id)
            return response
        except Refusal as refusal:
            return _html(page.login_form(_language(request), refusal.say(_language(request))), 403)

    async def measure(request: Request) -> Response:
        if not (is_open or (entry and entry.admits(request))):
            return respond_not_found(request)
        return Response(await run_in_threadpool(export_metrics, runs, counts), 200, {"Cache-Control": "no-store"}, CONTENT_TYPE_PLAIN_0_0_4)

    operator_routes = [GuardedRoute(PATH, look, PUBLIC), GuardedRoute(PATH, act, PUBLIC, "POST")] if entry else []
    return operator_routes + ([GuardedRoute(path, measure, PUBLIC) for path in METRICS] if entry or is_open else [])


def _find_run(runs: Runs, alias: str) -> Run | None:
    """Returns the unfinished run of a pseudonym: ids appear neither on the page nor in an address."""
    return next((run for run in runs.list_unshipped() if alias and run.unfinished and pseudonym(run.id) == alias), None)


def _language(request: Request) -> str:
    return preferred(request.headers.get("Accept-Language", ""), request.query_params.get("lang", ""))


def _html(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, PRIVATE)
