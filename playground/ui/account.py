"""Signing in with Hugging Face and pushing a run from the page, where the server has an OAuth app: as a Space with `hf_oauth` has."""

import os
from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from playground.export import scores_of
from playground.export.exported_run import export_run
from playground.features.shared.queries.reader import Reader
from playground.runs.identity import owner_of
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.ui.command import Action, Command, act, post_route
from playground.ui.network import page_address
from playground.ui.rights import PUBLIC, READER, VISITOR, GuardedRoute, Right

RETURN = f"{PREFIX}/signed-in"
LONGEST_QUERY = 2_000  # characters


def is_offered() -> bool:
    """Whether this server has an OAuth app at the Hub."""
    return {"OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET"} <= os.environ.keys()


def routes(runs: Runs, reader: Reader) -> list[GuardedRoute]:
    """Returns the route of a visitor's account and the one to which the Hub leads back; none where signing in is not offered."""
    if not is_offered():
        return []
    from playground.hub.account import Accounts  # which imports torch and the Hub's library

    accounts = Accounts()

    def push(runs: Runs, command: Command) -> None:
        run = runs.require_reader(command.run, command.token)
        exported = export_run(run)
        scores = partial(scores_of, reader, runs.corpora, exported)
        accounts.push(owner_of(command.token), exported, command.text("name"), command.values.get("public") is not True, scores)

    def answer(request: Request, command: Command) -> dict:
        owner, back = owner_of(command.token), command.text("back")[:LONGEST_QUERY]
        actions: dict[str, tuple[Right, Action]] = {
            "begin": (VISITOR, lambda *_: {"address": accounts.begin(owner, f"{page_address(request.base_url)}{RETURN[1:]}", back)}),
            "finish": (VISITOR, lambda *_: accounts.finish(owner, command.text("code"), command.text("state"))),
            "look": (VISITOR, lambda *_: None),
            "leave": (VISITOR, lambda *_: accounts.leave(owner)),
            "stop": (VISITOR, lambda *_: accounts.stop(owner)),
            "push": (READER, push),
        }
        return act(runs, command, actions) or accounts.describe(owner, command.language)

    async def come_back(request: Request) -> Response:
        """Leads back to the page, whose script proves that the visitor is the one that began. What is after # reaches no server."""
        code, state = (request.query_params.get(name, "") for name in ("code", "state"))
        proof = urlencode({"code": code, "state": state})
        return RedirectResponse(f"../../?{accounts.back_of(state)}#{proof}", 303, {"Referrer-Policy": "no-referrer"})

    return [post_route("/account", answer), GuardedRoute(RETURN, come_back, PUBLIC)]
