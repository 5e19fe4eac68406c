"""The operator's page and the metrics: there for the token's holder, not there for all others, and no id in either."""

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
from playground.ui.operator.entry import COOKIE, MAX_WRONG, Entry
from playground.ui.operator.routes import METRICS, PATH, routes
from playground.words import LANGUAGES, say
from tests.runs.tiny import CORPORA, LIMITS, ME, YOU, at_step, done, tiny, wait

TOKEN = "correct horse battery staple"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HERE = {"Sec-Fetch-Site": "same-origin"}
INSIDE = "Training cores"  # stands on the page, and not on its door


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
        served = routes(runs, {"sessions": lambda: 3, "streams": lambda: 5})
        return TestClient(Starlette(routes=served), follow_redirects=False)

    return browser


@pytest.fixture
def working(runs):
    run = at_step(runs.create(tiny(steps=100_000), ME, label="a label of mine"), 1)
    yield run
    runs.delete(run.id, ME)


def entered(browser):
    answer = browser.post(PATH, data={"token": TOKEN}, headers=HERE)
    assert answer.status_code == 303
    return answer


def test_without_a_token_there_is_no_such_page(client, site):
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


def test_the_token_opens_it_stands_nowhere_and_can_not_be_tried_out(client, caplog):
    browser = client()
    assert 'type="password"' in browser.get(PATH).text
    assert INSIDE not in browser.get(PATH).text
    with caplog.at_level(logging.INFO, "playground"):
        answer = entered(browser)
    cookie, page = answer.headers["Set-Cookie"], browser.get(PATH).text
    assert all(part in cookie for part in (COOKIE, "HttpOnly", "SameSite=strict", "Max-Age=28800"))
    assert INSIDE in page
    for text in (cookie, answer.headers["Location"], page, caplog.text):
        assert TOKEN not in text
    assert "operator_entered" in caplog.text
    browser.post(PATH, data={"leave": "1"}, headers=HERE)
    assert INSIDE not in browser.get(PATH).text
    for value in ("", "x" * 43, TOKEN):
        assert INSIDE not in browser.get(PATH, headers={"Cookie": f"{COOKIE}={value}"}).text
    assert INSIDE in browser.get(PATH, headers=BEARER).text
    for n in range(MAX_WRONG):  # counted in both ways
        if n % 2:
            answer = browser.post(PATH, data={"token": f"wrong {n}"}, headers=HERE)
            assert (answer.status_code, 'role="alert"' in answer.text) == (403, True)
        else:
            assert INSIDE not in browser.get(PATH, headers={"Authorization": f"Bearer wrong {n}"}).text
    assert "operator.wrong_token" not in browser.post(PATH, data={"token": "wrong again"}, headers=HERE).text
    assert INSIDE in browser.get(PATH, headers=BEARER).text  # the right one, of whoever shares the address


def test_a_session_ends_by_itself_and_tokens_are_compared_in_constant_time(monkeypatch):
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
    compared = []
    monkeypatch.setattr("playground.ui.operator.entry.hmac", SimpleNamespace(compare_digest=lambda *both: compared.append(both) or True))
    assert Entry(TOKEN).admits(SimpleNamespace(headers=Headers(BEARER), cookies={}, client=None))
    ((one, other),) = compared
    assert len(one) == len(other) == 64  # digests: nothing is learnt from a length


def test_it_shows_runs_owners_limits_and_errors_and_no_id_and_stops_a_run_once_that_is_confirmed(client, runs, working):
    browser, ended = client(), done(runs.create(tiny(steps=1), YOU))
    log, called = logging.getLogger("playground.tests"), logs.pseudonym(working.id)
    logs.event(log, "limit_hit", reason="page.too_many_requests", address="here")
    logs.event(log, "save_failed", logging.WARNING, run=working.id, error='<script>"disk"')
    for language in LANGUAGES:
        text = browser.get(PATH, params={"lang": language}, headers=BEARER).text
        for word in (working.name, called, *map(logs.pseudonym, (working.owner, ended.owner)), "page.too_many_requests", "save_failed"):
            assert word in text, word
        assert say(language, "operator.server_streams") in text
        assert "&lt;script&gt;" in text
        assert not [secret for secret in (working.id, ended.id, working.owner, ME, "a label", "<script") if secret in text]
    runs.delete(ended.id, YOU)
    pages = (browser.get(PATH, headers=BEARER), browser.get(f"{PATH}?still=1", headers=BEARER), browser.get(PATH))
    assert ['http-equiv="refresh"' in page.text for page in pages] == [True, False, False], "it loads itself anew unless it is to be still"

    assert browser.post(PATH, data={"stop": called}, headers=HERE).status_code == 404
    entered(browser)
    confirmation = browser.get(f"{PATH}?stop={called}").text
    assert [word in confirmation for word in (working.name, 'name="stop"', "refresh")] == [True, True, False]
    assert browser.post(PATH, data={"stop": called}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 404
    assert working.working
    assert browser.post(PATH, data={"stop": called}, headers=HERE).status_code == 303
    wait(lambda: not working.working)
    assert (working.status, working.message.key, working.resumable) == ("stopped", "runs.operator_stopped", True)


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
    assert samples["playground_workers_replaced_total",] == counted["replaced"]
    assert samples["playground_held_bytes",] == runs.memory.held
    assert min(samples["playground_memory_bytes", "trainings"], samples["playground_kept_bytes",]) > 0
    assert samples["playground_events_total", "run_made", ""] >= 1
    assert (families["playground_events"].type, families["playground_runs"].type) == ("counter", "gauge")
    assert not [secret for secret in (working.id, working.owner, logs.pseudonym(working.id), working.name) if secret in answer.text]
