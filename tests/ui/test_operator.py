"""The operator's page and the metrics: there for who holds the token, not there for all others, and nobody's id in either."""

import logging
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.testclient import TestClient

from playground import logs
from playground.runs.registry import Runs
from playground.ui.assets import PREFIX
from playground.ui.operator.entry import COOKIE, WRONG, Entry
from playground.ui.operator.routes import METRICS, PATH, routes
from playground.words import LANGUAGES, say
from tests.runs.tiny import CORPORA, LIMITS, ME, YOU, at_step, done, tiny, wait

TOKEN = "correct horse battery staple"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HERE = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = Runs(tmp_path_factory.mktemp("operator"), None, LIMITS)
    made.corpora._made = CORPORA._made
    yield made
    made.close()


@pytest.fixture
def client(runs, monkeypatch):
    """client(token=..., metrics=...) -> a browser before a server with these settings."""

    def browser(token=TOKEN, metrics=""):
        monkeypatch.setenv("PLAYGROUND_OPERATOR", token)
        monkeypatch.setenv("PLAYGROUND_METRICS", metrics)
        found = routes(runs, {"sessions": lambda: 3, "streams": lambda: 5})
        return TestClient(Starlette(routes=found), follow_redirects=False)

    return browser


def entered(browser):
    answer = browser.post(PATH, data={"token": TOKEN}, headers=HERE)
    assert answer.status_code == 303
    return answer


@pytest.mark.parametrize("token", ["", "too short"])
def test_without_a_token_there_is_no_such_page(client, token):
    browser = client(token)
    assert browser.app.routes == []
    for path in (PATH, *METRICS):
        assert browser.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 404
    assert browser.post(PATH, data={"token": token}, headers=HERE).status_code == 404


def test_the_token_opens_it_and_stands_nowhere(client, runs, caplog):
    browser = client()
    assert 'type="password"' in browser.get(PATH).text
    assert "Cores for training" not in browser.get(PATH).text
    with caplog.at_level(logging.INFO, "playground"):
        answer = entered(browser)
    cookie = answer.headers["Set-Cookie"]
    assert all(part in cookie for part in (COOKIE, "HttpOnly", "SameSite=strict", "Max-Age=28800"))
    assert all(name in browser.get(PATH).text for name in ("Cores for training", "Held by all processes", "Processes that train"))
    for said in (cookie, answer.headers["Location"], browser.get(PATH).text, caplog.text):
        assert TOKEN not in said
    assert "operator_entered" in caplog.text
    browser.post(PATH, data={"leave": "1"}, headers=HERE)
    assert "Cores for training" not in browser.get(PATH).text


def test_a_cookie_of_somebodys_own_opens_nothing(client):
    browser = client()
    for value in ("", "x" * 43, TOKEN):
        assert "Cores for training" not in browser.get(PATH, headers={"Cookie": f"{COOKIE}={value}"}).text
    assert "Cores for training" in browser.get(PATH, headers=BEARER).text


def test_attempts_are_counted_in_both_ways(client):
    browser = client()
    for n in range(WRONG):
        if n % 2:
            answer = browser.post(PATH, data={"token": f"wrong {n}"}, headers=HERE)
            assert (answer.status_code, "role=\"alert\"" in answer.text) == (403, True)
        else:
            assert "Cores for training" not in browser.get(PATH, headers={"Authorization": f"Bearer wrong {n}"}).text
    assert browser.post(PATH, data={"token": TOKEN}, headers=HERE).status_code == 403  # the right one too, now
    assert "Cores for training" not in browser.get(PATH, headers=BEARER).text


def test_tokens_are_compared_in_constant_time(monkeypatch):
    asked = []
    monkeypatch.setattr("playground.ui.operator.entry.hmac", SimpleNamespace(compare_digest=lambda *both: asked.append(both) or True))
    request = SimpleNamespace(headers=Headers(BEARER), cookies={}, client=None)
    assert Entry(TOKEN).admits(request)
    ((one, other),) = asked
    assert len(one) == len(other) == 64  # digests: nothing is learnt from a length


def test_a_session_ends_by_itself(client):
    now = [0.0]
    entry = Entry(TOKEN, lambda: now[0])
    answer, request = Response(), SimpleNamespace(headers=Headers(), cookies={}, client=None, url=SimpleNamespace(scheme="https"))
    entry.enter(TOKEN, request, answer)
    cookie = answer.headers["Set-Cookie"]
    assert "Secure" in cookie
    request.cookies = {COOKIE: cookie.partition("=")[2].partition(";")[0]}
    assert entry.admits(request)
    now[0] = 8 * 3600.0
    assert not entry.admits(request)


@pytest.fixture
def working(runs):
    run = at_step(runs.create(tiny(steps=100_000), ME, label="a label of mine"), 1)
    yield run
    runs.delete(run.id, ME)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_shows_runs_owners_limits_and_errors_and_nobodys_id(client, runs, working, language):
    browser, ended = client(), done(runs.create(tiny(steps=1), YOU))
    log = logging.getLogger("playground.tests")
    logs.event(log, "limit_hit", reason="page.too_many_requests", address="here")
    logs.event(log, "save_failed", logging.WARNING, run=working.id, error='<script>"disk"')
    text = browser.get(PATH, params={"lang": language}, headers=BEARER).text
    for said in (working.name, *map(logs.pseudonym, (working.id, working.owner, ended.owner)), "page.too_many_requests", "save_failed"):
        assert said in text, said
    assert say(language, "operator.server_streams") in text
    assert "&lt;script&gt;" in text
    secrets = (working.id, ended.id, working.owner, ME, "a label", "<script")
    assert not [secret for secret in secrets if secret in text]
    runs.delete(ended.id, YOU)


def test_it_loads_itself_anew_unless_it_is_to_be_still(client):
    browser = client()
    assert 'http-equiv="refresh"' in browser.get(PATH, headers=BEARER).text
    assert 'http-equiv="refresh"' not in browser.get(f"{PATH}?still=1", headers=BEARER).text
    assert 'http-equiv="refresh"' not in browser.get(PATH).text  # who types a token


def test_a_run_is_stopped_once_that_is_confirmed(client, runs, working):
    browser, called = client(), logs.pseudonym(working.id)
    assert browser.post(PATH, data={"stop": called}, headers=HERE).status_code == 404  # nobody's
    entered(browser)
    asked = browser.get(f"{PATH}?stop={called}").text
    assert working.name in asked
    assert 'name="stop"' in asked
    assert "refresh" not in asked
    assert browser.post(PATH, data={"stop": called}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 404
    assert working.working
    assert browser.post(PATH, data={"stop": called}, headers=HERE).status_code == 303
    wait(lambda: not working.working)
    assert (working.status, working.message.key) == ("stopped", "runs.operator_stopped")
    assert working.resumable


def test_metrics_are_what_prometheus_reads(client, runs, working):
    browser = client("", "1")
    for path in METRICS:
        answer = browser.get(path)
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    samples = {(one.name, *one.labels.values()): one.value for family in families.values() for one in family.samples}
    assert samples["playground_runs", "training"] == 1
    assert samples["playground_streams",] == 5
    assert samples["playground_cores",] == LIMITS.cores
    assert samples["playground_memory_limit_bytes",] == LIMITS.memory
    assert samples["playground_memory_bytes", "trainings"] > 0
    assert samples["playground_kept_bytes",] > 0
    counted = runs.counted()
    assert (samples["playground_waiting",], samples["playground_processes",]) == (counted["waiting"], counted["processes"])
    assert samples.get(("playground_held_bytes",)) == runs.memory.held
    said = [family.documentation for name, family in families.items() if name.startswith("playground_")]
    assert len(set(said)) == len(said), "each says what it is"
    assert samples["playground_events_total", "run_made", ""] >= 1
    assert families["playground_events"].type == "counter"
    assert families["playground_runs"].type == "gauge"
    assert not [secret for secret in (working.id, working.owner, logs.pseudonym(working.id), working.name) if secret in answer.text]


def test_metrics_are_the_operators_where_they_are_not_everybodys(client):
    browser = client()
    for path in METRICS:
        assert browser.get(path).status_code == 404
        assert browser.get(path, headers=BEARER).status_code == 200
    assert client("", "").app.routes == []
    assert len(client("", "0").app.routes) == 0


def test_without_a_token_the_address_is_as_unknown_as_any(site):
    """By every method, to the last byte."""
    for method in ("GET", "POST", "PUT"):
        unknown, *answers = (site.http.request(method, path) for path in (f"{PREFIX}/nothing-of-the-sort", PATH, *METRICS))
        for answer in answers:
            assert (answer.status_code, answer.content) == (404, unknown.content)
            assert list(answer.headers) == list(unknown.headers)
