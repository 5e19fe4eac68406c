"""/health, from outside: numbers that name nobody, and a status that whoever watches a server can use."""

import json
import re
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.runs import health as module
from playground.runs.limits import Limits
from playground.ui import health
from playground.ui.assets import PREFIX
from tests.runs.tiny import done, tiny
from tests.runs.tiny import limits as tiny_limits


def test_it_names_nobody(site):
    run = site.train("ada", tiny(steps=2).flat() | {"threads": 1})
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}") as stream:
        told = stream.iter_raw()
        next(told)
        answer = site.http.get("/health")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    said = answer.json()
    assert said["streams"] >= 1
    assert said["readers_lost"] == 0
    assert said["processes"].keys() == {"ready", "held"}
    assert said["version"] == health.app_version() == re.search(r'\nversion = "([\d.]+)"\n', health.PROJECT.read_text())[1]
    text = answer.text
    for secret in (run.id, run.name, run.owner, "ada", str(site.runs.store.folder), "/tmp", "127.0.0.1"):
        assert secret not in text, secret
    assert set(said["memory"]["shares"]) == {
        *("trainings", "corpora", "updates", "runs", "panels", "sessions", "first_screens", "uploads", "drawings", "models", "answers"),
        "steps",
    }
    done(run)


def test_a_space_forwards_it_too(site):
    assert site.http.get(f"{PREFIX}/health").json().keys() == site.http.get("/health").json().keys()


def test_who_watches_is_never_told_to_wait(site):
    assert {site.http.get("/health").status_code for _ in range(30)} == {200}
    assert set(health.PATHS) == {"/health", f"{PREFIX}/health"}


@pytest.mark.parametrize(
    ("counted", "status", "code"),
    [({}, "ok", 200), ({"waiting": 1}, "busy", 200), ({"unfinished": 9}, "busy", 200), ({"full": 1}, "busy", 200),
     ({"alive": 0}, "failing", 503), ({"watchdog": 0, "waiting": 1}, "failing", 503), ({"housekeeper": 0}, "failing", 503)],
)  # fmt: skip
def test_the_status_is_one_that_docker_understands(site, counted, status, code):
    usual = {"training": 0, "waiting": 0, "kept": 0, "unfinished": 0, "alive": 2, "replaced": 0, "lost": 0, "watchdog": 1, "housekeeper": 1}
    usual |= {"processes": 2, "full": 0}
    runs = SimpleNamespace(
        counted=lambda: usual | counted, store=site.runs.store, memory=site.runs.memory, limits=tiny_limits(runs_unfinished=9),
        cluster=site.runs.cluster,
    )
    assert module.health(runs)["status"] == status
    route = health.routes(runs, {})[0]
    assert _code(route, runs) == code


def _code(route, runs):
    return TestClient(Starlette(routes=[route])).get(route.path).status_code


def test_it_is_small_and_whole(site):
    answer = site.http.get("/health")
    assert len(answer.content) < 1500
    assert json.loads(answer.content)["memory"]["limit"] == site.runs.limits.memory <= Limits.from_environment().memory * 2
