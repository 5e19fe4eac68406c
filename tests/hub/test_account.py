"""A visitor signs in at the Hub and pushes a run: what arrives is what the command line pushes, and no one else is let in."""

from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HTTPError
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.export import write_folder
from playground.features.shared.queries.reader import Reader
from playground.runs.registry import Runs
from playground.ui import account
from playground.ui.assets import PREFIX
from tests.hub.stand_in import served_hub
from tests.runs.tiny import PAIRS, done, tiny, wait

ANNA, BEN = "a" * 32, "b" * 32


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The Hub, the runs, and a visitor's calls of the two routes."""
    with served_hub() as hub:
        runs = Runs(tmp_path_factory.mktemp("runs"))
        reader = Reader(runs)
        yield Site(hub, runs, TestClient(Starlette(routes=account.routes(runs, reader)), follow_redirects=False))
        reader.close()
        runs.close()


class Site:
    def __init__(self, hub, runs, http) -> None:
        self.hub, self.runs, self.http = hub, runs, http

    def ask(self, token, action, run="", **values) -> dict:
        sent = {"X-Playground-Token": token} if token else {}
        return self.http.post(f"{PREFIX}/account", json={"action": action, "run": run, **values}, headers=sent).json()

    def proof(self, token, user="ada") -> dict:
        """Returns the code and the state to which the Hub leads back, from behind the #."""
        self.hub.user = user
        query = dict(parse_qs(urlsplit(self.ask(token, "begin", back="run=reverse&tab=map")["address"]).query))
        back = self.http.get(self.hub.authorize({name: values[0] for name, values in query.items()}))
        path, _, proof = back.headers["location"].partition("#")
        assert (back.status_code, path) == (303, "../../?run=reverse&tab=map")
        return {name: values[0] for name, values in parse_qs(proof).items()}

    def sign_in(self, token, user="ada") -> dict:
        return self.ask(token, "finish", **self.proof(token, user))

    def pushed(self, token, run="reverse", **values) -> dict:
        """How a push ends."""
        answer = self.ask(token, "push", run, **({"name": "mine"} | values))
        assert "error" not in answer, answer
        wait(lambda: not self.ask(token, "look")["push"]["busy"])
        return self.ask(token, "look")["push"]


def test_what_is_pushed_arrives_whole_and_nothing_shows_a_token(site, caplog, tmp_path):
    run = done(site.runs.create(tiny(steps=4), BEN))
    assert site.sign_in(ANNA) == {"user": "ada", "push": None}
    assert site.pushed(ANNA, run.id, name="toy") == {"text": "Pushed:", "address": f"{site.hub.url}/ada/toy", "busy": False}
    write_folder(run, tmp_path)  # as the command line does
    assert site.hub.repos["ada/toy"] == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert site.pushed(ANNA, run.id, name="toy")["address"], "what this sign-in made it may change"
    assert site.pushed(ANNA, run.id, name="open", public=True)["address"]
    assert [site.hub.created[f"ada/{name}"]["visibility"] for name in ("toy", "open")] == ["private", "public"]
    assert "hf_" not in caplog.text + str(site.ask(ANNA, "look"))


def test_a_sign_in_is_of_the_visitor_that_began_it(site):
    site.sign_in(ANNA)
    assert site.ask(BEN, "look") == {"user": "", "push": None}
    assert site.ask(BEN, "push", site.runs.shipped()[0].id, name="x")["key"] == "hub.not_signed_in"
    proof = site.proof(ANNA, "cleo")  # Cleo was led to an address that Anna had begun with
    site.proof(BEN)
    for token, wrong in ((BEN, {}), (ANNA, {"state": "x"}), (ANNA, {})):  # the last: it was tried already
        assert site.ask(token, "finish", **(proof | wrong))["key"] == "hub.not_signed_in"
    assert site.ask(BEN, "begin")["address"] != site.ask(BEN, "begin")["address"]
    stolen, begun = site.proof(ANNA, "cleo"), site.proof(BEN, "ben")
    assert site.ask(BEN, "finish", code=stolen["code"], state=begun["state"])["key"] == "hub.not_signed_in", "a code is of one sign-in"
    assert site.sign_in(BEN, "ben")["user"] == "ben"
    assert (site.ask(ANNA, "look")["user"], site.ask(BEN, "leave")["user"], site.ask(ANNA, "look")["user"]) == ("ada", "", "ada")
    assert site.ask("", "look")["key"] == "runs.no_token"


def test_own_sentences_need_the_right_to_the_zip(site):
    run = done(site.runs.create(tiny(steps=4, task="own"), BEN, pairs=PAIRS))
    site.sign_in(ANNA)
    assert site.ask(ANNA, "push", run.id, name="x")["key"] == "runs.sentences_private"
    site.sign_in(BEN, "ben")
    assert site.pushed(BEN, run.id, name="own")["address"]
    assert "sentences.tsv" not in site.hub.repos["ben/own"]


def test_a_push_that_fails_or_is_stopped_says_so_in_one_sentence(site, monkeypatch):
    run, hub = done(site.runs.create(tiny(steps=4), ANNA)).id, site.hub
    monkeypatch.setattr(account, "scores_of", lambda *_: None)  # which takes longest
    site.sign_in(ANNA)
    assert site.ask(ANNA, "push", run, name="a b")["key"] == "hub.not_a_name"
    hub.repos["ada/there"] = {}
    assert site.pushed(ANNA, run, name="there")["text"] == "“ada/there” exists. Choose another name."
    for part, status, sentence in (("create", 403, "may not write"), ("/lfs/", 413, "refused “ada/"), ("/lfs/", 403, "may not write")):
        hub.refusals = {part: status}
        assert sentence in site.pushed(ANNA, run, name=f"new{status}")["text"]
    hub.refusals = {}
    hub.open.clear()
    assert site.ask(ANNA, "push", run, name="held")["push"]["busy"]
    wait(lambda: site.ask(ANNA, "look")["push"]["text"].startswith("Uploading: 0.0 of 0."))
    assert site.ask(ANNA, "push", run, name="other")["key"] == "hub.push_busy"
    assert site.ask(ANNA, "stop")["push"]["busy"]
    hub.open.set()
    wait(lambda: not site.ask(ANNA, "look")["push"]["busy"])
    assert site.ask(ANNA, "look")["push"] == {"text": "Stopped before its files arrived.", "address": "", "busy": False}
    assert hub.repos["ada/held"] == {}
    hub.tokens.clear()
    assert "Repeat it" in site.pushed(ANNA, run, name="late")["text"]
    assert site.ask(ANNA, "look")["user"] == ""
    site.sign_in(ANNA)
    monkeypatch.setattr(HfApi, "create_repo", Mock(side_effect=HTTPError("gone")))
    assert "be reached" in site.pushed(ANNA, run, name="gone")["text"]
