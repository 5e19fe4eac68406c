"""What a server says of itself: to the operator's token, to Prometheus, and by /health to anyone; with no id, name or secret in it."""

import json
import logging
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import playground
from playground import logs
from playground.runs.limits import Limits
from playground.runs.registry import Runs
from playground.ui import operator as health
from playground.ui.assets import PREFIX
from playground.ui.operator import MAX_WRONG, METRICS, PATH, Entry, routes
from tests.runs.tiny import CORPORA, LIMITS, ME, at_step, done, limits as tiny_limits, tiny, wait

TOKEN = "correct horse battery staple"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = Runs(tmp_path_factory.mktemp("operator"), None, LIMITS)
    made.corpora._caches = CORPORA._caches
    yield made
    made.close()


@pytest.fixture
def client(runs, monkeypatch):
    """client(token=..., metrics=...) -> a browser before a server with these settings."""

    def browser(token=TOKEN, metrics=""):
        monkeypatch.setenv("PLAYGROUND_OPERATOR", token)
        monkeypatch.setenv("PLAYGROUND_METRICS", metrics)
        served = routes(runs, {"sessions": lambda: 3, "streams": lambda: 5, "readers_lost": lambda: 0})
        return TestClient(Starlette(routes=served), follow_redirects=False)

    return browser


@pytest.fixture
def working(runs):
    run = at_step(runs.create(tiny(steps=100_000), ME, label="a label of mine"), 1)
    yield run
    runs.delete(run.id, ME)


def test_without_a_token_there_is_no_such_route(client, site):
    for token in ("", "too short"):
        browser = client(token)
        assert browser.app.routes == []
        for path in (PATH, *METRICS):
            assert browser.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 404
    assert client("", "0").app.routes == []
    for method in ("GET", "POST", "PUT"):
        unknown, *answers = (site.http.request(method, path) for path in (f"{PREFIX}/nothing-of-the-sort", PATH, *METRICS))
        for answer in answers:
            assert (answer.status_code, answer.content, list(answer.headers)) == (404, unknown.content, list(unknown.headers))


def test_the_token_stops_a_run_shows_no_id_and_can_not_be_tried_out(client, runs, working, caplog, monkeypatch):
    browser, called = client(), logs.pseudonym(working.id)
    with caplog.at_level(logging.INFO, "playground"):
        for n in range(MAX_WRONG + 5):
            assert browser.post(PATH, data={"stop": called}, headers={"Authorization": f"Bearer wrong {n}"}).status_code == 404
        assert browser.post(PATH, data={"stop": called}).status_code == 404
        assert working.working
        listed = browser.post(PATH, headers=BEARER)  # of the address of so many wrong ones
    assert caplog.text.count("operator_turned_away") == MAX_WRONG
    (entry,) = listed.json()["unfinished"]
    expected = {"run": called, "owner": logs.pseudonym(working.owner), "name": working.name, "status": "training"}
    assert ({name: entry[name] for name in expected}, listed.json()["stopped"]) == (expected, [])
    stopped = browser.post(PATH, data={"stop": called}, headers=BEARER)
    assert (stopped.status_code, stopped.json()["stopped"], browser.get(PATH, headers=BEARER).status_code) == (200, [called], 405)
    for text in (listed.text, stopped.text):
        assert not [secret for secret in (TOKEN, working.id, working.owner, ME, "a label") if secret in text]
    assert TOKEN not in caplog.text
    wait(lambda: not working.working)
    assert (working.status, working.message.key, working.resumable) == ("stopped", "runs.operator_stopped", True)
    compared = []
    monkeypatch.setattr("playground.ui.operator.hmac", SimpleNamespace(compare_digest=lambda *both: compared.append(both) or True))
    assert Entry(TOKEN).admits(SimpleNamespace(headers=Headers(BEARER)))
    assert [len(digest) for both in compared for digest in both] == [64, 64], "in constant time, and of digests: no length is learnt"


def test_metrics_are_what_prometheus_reads(client, runs, working):
    browser, private = client("", "1"), client()
    for path in METRICS:
        answer = browser.get(path)
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert [private.get(path, headers=headers).status_code for headers in ({}, BEARER)] == [404, 200]
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    samples = {(one.name, *one.labels.values()): one.value for family in families.values() for one in family.samples}
    counted = runs.count()
    expected = {"runs training": 1, "streams": 5, "cores": LIMITS.cores, "memory_limit_bytes": LIMITS.memory,
                "waiting": counted["waiting"], "processes": counted["processes"]}  # fmt: skip
    for name, value in expected.items():
        assert samples[tuple(f"playground_{name}".split())] == value, name
    assert (samples["playground_workers_replaced_total",], samples["playground_held_bytes",]) == (counted["replaced"], runs.memory.held)
    assert min(samples["playground_memory_bytes", "trainings"], samples["playground_kept_bytes",]) > 0
    assert samples["playground_events_total", "run_made", ""] >= 1
    assert (families["playground_events"].type, families["playground_runs"].type) == ("counter", "gauge")
    assert not [secret for secret in (working.id, working.owner, logs.pseudonym(working.id), working.name) if secret in answer.text]
    dashboard = json.loads((Path(logs.__file__).parents[1] / "docs" / "grafana.json").read_text())
    expressions = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    exported = {f"{name}_total" if family.type == "counter" else name for name, family in families.items()}
    assert set(re.findall(r"playground_\w+", expressions)) == {name for name in exported if name.startswith("playground_")}


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


@pytest.mark.parametrize(("counted", "status", "code"), [
    ({}, "ok", 200), ({"waiting": 1}, "busy", 200), ({"unfinished": 9}, "busy", 200), ({"full": 1}, "busy", 200),
    ({"alive": 0}, "failing", 503), ({"watchdog": 0, "waiting": 1}, "failing", 503), ({"housekeeper": 0}, "failing", 503),
])  # fmt: skip
def test_the_status_is_one_that_docker_understands(site, counted, status, code):
    usual = dict.fromkeys(("training", "waiting", "kept", "unfinished", "replaced", "lost", "full"), 0)
    usual |= {"alive": 2, "watchdog": 1, "housekeeper": 1, "processes": 2}
    parts = {name: getattr(site.runs, name) for name in ("store", "memory", "cluster")}
    runs = SimpleNamespace(count=lambda: usual | counted, limits=tiny_limits(runs_unfinished=9), **parts)
    assert health.health(runs)["status"] == status
    route = health.health_routes(runs, {})[0]
    assert TestClient(Starlette(routes=[route])).get(route.path).status_code == code
