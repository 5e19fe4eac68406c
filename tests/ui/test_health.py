"""/health, from outside: numbers without names, and a status that Docker, whose image asks for it, understands."""

import time
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import playground
from playground.runs.limits import Limits
from playground.ui import operator as health
from playground.ui.assets import PREFIX
from tests.runs.tiny import done, limits as tiny_limits, tiny


def test_it_is_small_whole_and_has_no_secret(site):
    run = site.train("ada", tiny(steps=2).flat() | {"threads": 1})
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}") as stream:
        chunks = stream.iter_raw()
        next(chunks)
        answer, other = (site.http.get(path) for path in health.HEALTH)
    assert (answer.status_code, other.status_code, other.json().keys()) == (200, 200, answer.json().keys())
    assert answer.headers["Cache-Control"] == "no-store"
    report = answer.json()
    assert report["streams"] >= 1
    assert 0 <= report["uptime_seconds"] <= time.monotonic(), "counted from the start of the server, not of the machine"
    assert report["version"] == playground.__version__
    assert report["memory"]["limit"] == site.runs.limits.memory <= Limits.from_environment().memory * 2
    for secret in (run.id, run.name, run.owner, "ada", str(site.runs.store.folder), "/tmp", "127.0.0.1"):
        assert secret not in answer.text, secret
    done(run)


@pytest.mark.parametrize(
    ("counted", "status", "code"),
    [({}, "ok", 200), ({"waiting": 1}, "busy", 200), ({"unfinished": 9}, "busy", 200), ({"full": 1}, "busy", 200),
     ({"alive": 0}, "failing", 503), ({"watchdog": 0, "waiting": 1}, "failing", 503), ({"housekeeper": 0}, "failing", 503)],
)  # fmt: skip
def test_the_status_is_one_that_docker_understands(site, counted, status, code):
    usual = dict.fromkeys(("training", "waiting", "kept", "unfinished", "replaced", "lost", "full"), 0)
    usual |= {"alive": 2, "watchdog": 1, "housekeeper": 1, "processes": 2}
    parts = {name: getattr(site.runs, name) for name in ("store", "memory", "cluster")}
    runs = SimpleNamespace(count=lambda: usual | counted, limits=tiny_limits(runs_unfinished=9), **parts)
    assert health.health(runs)["status"] == status
    route = health.health_routes(runs, {})[0]
    assert TestClient(Starlette(routes=[route])).get(route.path).status_code == code
