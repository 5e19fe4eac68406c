"""From outside: whoever skips the page and speaks to the server directly gets no further than its buttons do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from benchmarks.hostile.people import values
from playground.config import LIVE_KNOBS, Experiment, default, limits
from playground.runs.names import owner_of
from playground.ui.controls import CONTROLLED
from playground.ui.panels import PANELS
from playground.ui.routes import PREFIX
from playground.words import entries
from tests.thoroughness import every_case
from tests.ui.test_actions import MINE, THEIRS, TINY, wait

SESSIONS = (f"visitor{number}" for number in count())


@pytest.fixture(scope="module")
def run(site):
    """Somebody's run, which trains as long as nobody stops it."""
    run = site.runs.create(Experiment().with_(**TINY, steps=100_000), MINE)
    wait(run, "training")
    yield run
    site.runs.delete(run.id, MINE)


def test_sentences_that_go_wrong_are_not_offered_of_a_model_that_changes(site, run):
    """The next moment others go wrong; a kept step has its own, once nothing moves."""
    end = time.monotonic() + 60
    while "error" in (panel := site.panel("teacher_forcing", run=run.id)):  # until its first step
        assert time.monotonic() < end, panel
    ids = {block["id"] for block in panel["blocks"]}
    assert "lanes" in ids
    assert not ids & {"wrong", "none-wrong"}
    ids = {block["id"] for block in site.panel("teacher_forcing", run=run.id, step=0)["blocks"]}
    assert ids & {"wrong", "none-wrong"}


def call(site, token: str | None, language: str = "en", **asked: object) -> dict:
    """What the one route that changes something answers whoever speaks to it directly."""
    answer = site.command(asked, token, language)
    assert answer.status_code in (200, 400, 403), answer.text
    assert (answer.status_code == 200) == (answer.json().get("key") not in ("page.not_a_command", "page.not_from_here", "runs.no_token"))
    return answer.json()


def train(site, token: str | None, **knobs: object) -> dict:
    return call(site, token, action="train", run="", knobs={name: default(name) for name in CONTROLLED} | TINY | knobs)


def strict(text: str) -> object:
    """JSON as a browser reads it: NaN is an error."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in an answer"))


@pytest.mark.sample
@pytest.mark.parametrize("token", [THEIRS, "", None, "owner", "0", '["a"]', "a" * 33, MINE + "," + THEIRS])
@pytest.mark.parametrize("action", ["pause", "step", "resume", "stop", "rename", "delete", "live"])
def test_a_stranger_changes_nothing(site, run, action, token):
    token = owner_of(MINE) if token == "owner" else token  # what the server keeps of the owner's token is no token
    said = call(site, token, action=action, run=run.id, label="taken", knob="learning_rate", value=0.5)
    assert said["error"] == entries("en")["runs.not_yours" if token else "runs.no_token"]
    assert site.runs.get(run.id) is run
    assert (run.status, run.label) == ("training", "")


def test_a_stranger_moves_no_live_knob(site, run):
    before = dict(run.live)
    wanted = {"memory_mode": "cut", "learning_rate": 0.5, "label_smoothing": 0.3, "max_grad_norm": 2.0}
    assert tuple(wanted) == LIVE_KNOBS
    for name, value in wanted.items():
        assert call(site, THEIRS, action="control", run=run.id, knob=name, value=value) == {}
        assert run.live == before
        assert call(site, MINE, action="control", run=run.id, knob=name, value=value) == {}
        before |= {name: value}
        assert run.live == before


@pytest.mark.parametrize("token", ["", None])
def test_nothing_is_made_for_nobody(site, run, token):
    here = len(site.runs.mine(MINE))
    assert train(site, token)["error"] == entries("en")["runs.no_token"]
    for action in ("fork", "copy"):
        assert call(site, token, action=action, run=run.id)["error"] == entries("en")["runs.no_token"]
    assert len(site.runs.mine(MINE)) == here


@pytest.mark.parametrize(
    "asked",
    [
        {"action": "fork", "step": "soon"},
        {"action": "fork", "step": float("inf")},
        {"action": "fork", "step": float("nan")},
        {"action": "fork", "step": [1]},
        {"action": "fork", "step": -1},
        {"action": ["fork"]},
        {"action": {}},
        {"action": None},
        {"action": "rename", "run": {"a": 1}},
        {"action": "train"},
        {"action": "__init__"},
    ],
)
def test_odd_commands_get_a_sentence(site, run, asked):
    said = call(site, THEIRS, **{"run": run.id} | asked)
    assert re.fullmatch(r"[A-Z“][^\n]*\.", said["error"])
    assert site.runs.mine(THEIRS) == []


@every_case(
    "message",
    [b"[" * 30_000, b"{" * 30_000, b'"', b"\x00", b"12", b'{"action": "stop"}', b"[]", b"null", b"", b"9" * 5000, b"\xff\xfe", b'"\\ud800"',
     b'{"action": "rename", "run": "reverse", "label": "\xed\xa0\x80"}', b"action=stop&run=reverse",
     b'{"action": "experiment", "run": "", "lab": "\\ud800", "seed": 1}'],
)  # fmt: skip
def test_odd_messages_get_a_sentence(site, message):
    answer = site.command(message, THEIRS)
    assert answer.status_code == 400
    assert answer.json()["error"] == entries("en")["page.not_a_command"]


@pytest.mark.parametrize("language", ["en", "zh", "", "../../etc", "xx", "7", '["en"]', "\x00"])
def test_whatever_the_language_the_answer_is_a_sentence(site, language):
    said = call(site, THEIRS, language)["error"]
    assert said in {entries(known)["page.not_a_command"] for known in ("en", "zh")}


def test_unknown_languages_are_not_kept():
    assert entries("xx") is entries("yy") is entries("en")


@pytest.mark.sample
@pytest.mark.parametrize("name", [name for name in CONTROLLED if limits(name).low is not None])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e9, 1e308])
def test_numbers_are_checked_in_the_core(site, name, value):
    assert train(site, THEIRS, **{name: value})["knob"] == name
    assert site.runs.mine(THEIRS) == []


def test_a_run_made_from_outside_is_the_callers(site):
    opened = train(site, THEIRS, steps=3)
    run = site.runs.get(opened["run"])
    assert site.runs.owns(run.id, THEIRS)
    assert run.experiment == Experiment().with_(**TINY, steps=3)
    wait(run, "done")
    said = call(site, THEIRS, action="delete", run=run.id)
    assert said["run"] == "german_english"
    assert site.runs.mine(THEIRS) == []


def reading(site, session: str, given: dict[int, object]) -> dict:
    """What the page posts to have something read, with what is given by its place among the listener's inputs."""
    config = site.http.get("/config").json()
    listener = next(one for one in config["dependencies"] if one["api_name"] == "read")
    return {"data": values(config, listener, given), "fn_index": listener["id"], "session_hash": session}


@pytest.mark.parametrize("form", ["gradio", "plain", "text"])
def test_no_file_of_the_server_is_read_as_an_upload(site, form):
    project, store = Path(__file__).parents[2] / "README.md", Path(site.runs.store.folder)
    secret = store / "pairs.tsv"
    secret.write_text("a\tb\nc\td\n")
    for path in (secret, project, Path("/etc/passwd"), f"{site.url}gradio_api/playground/boot"):
        given = {"gradio": {"path": str(path), "meta": {"_type": "gradio.FileData"}}, "plain": {"path": str(path)}, "text": str(path)}[form]
        session = next(SESSIONS)
        joined = site.http.post("/gradio_api/queue/join", json=reading(site, session, {0: {}, 1: [given]}))
        assert joined.status_code == 200, joined.text
        with site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as events:
            ended = next(line for line in events.iter_lines() if "process_completed" in line)
        assert '"success":false' in ended
        assert "reading" not in ended


@pytest.mark.parametrize("told", [{"language": "en", "own": "", "choices": ""}, {}, "", None, 7, ["own"], {"own": ["a"], "language": {}}])
def test_pasted_pairs_are_read_through_the_queue(site, told):
    """The way that the test above must not find closed; whatever the script may tell the listener."""
    session = next(SESSIONS)
    site.http.post("/gradio_api/queue/join", json=reading(site, session, {0: told, 2: "a\tb\nc\td"})).raise_for_status()
    with site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as events:
        ended = next(line for line in events.iter_lines() if "process_completed" in line)
    assert json.loads(ended.removeprefix("data: "))["output"]["data"][0]["reading"]["pairs"] == 2


def test_an_upload_has_an_end(site):
    answer = site.http.post("/gradio_api/upload", files={"files": ("big.tsv", b"a\tb\n" * 6_000_000)})
    assert answer.status_code == 413


@every_case("method", ["POST", "PUT", "DELETE", "PATCH"])
@every_case(
    "path", ["boot", "runs", "run/reverse", "panel/learn", "live/reverse", "qr", "export", "reading", "preview", "worksheet"]
)
def test_our_routes_only_read(site, path, method):
    assert site.http.request(method, f"{PREFIX}/{path}").status_code in (404, 405)


@pytest.mark.sample
@pytest.mark.parametrize("name", sorted(PANELS))
@pytest.mark.parametrize("text", ["%ED%A0%80", "%FF%FE", "%00", "a%0Ab", "%F0%9F%99%82", "%E2%80%AE", "&text=twice"])
def test_odd_bytes_in_an_address_are_only_text(site, name, text):
    answer = site.http.get(f"{PREFIX}/panel/{name}?run=reverse&text={text}")
    assert answer.status_code == 200
    assert strict(answer.text)


@pytest.mark.parametrize("since", ["0", "-1", "nan", "9" * 30, "x", "１２", ""])
def test_a_stream_starts_with_the_whole_run_as_json(site, run, since):
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}", params={"since": since}) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        first = next(line for line in events.iter_lines() if line.startswith("data: "))
    update = strict(first.removeprefix("data: "))
    assert (update["id"], update["from"]) == (run.id, 0)
    assert {len(column) for column in update["rows"].values()} == {len(update["rows"]["step"])}


def events_of(site, run, since: str = "0", last: str | None = None) -> Iterator[tuple[str, dict]]:
    """(id, update) of a stream's events. `last` is what a browser sends whose line was cut: the id of the last event that it got."""
    headers = {"Last-Event-ID": last} if last is not None else {}
    with site.http.stream("GET", f"{PREFIX}/live/{run.id}", params={"since": since}, headers=headers) as events:
        known = ""
        for line in events.iter_lines():
            name, _, value = line.partition(": ")
            known = value if name == "id" else known
            if name == "data":
                yield known, strict(value)


def test_a_line_that_was_cut_goes_on_where_it_was(site, run):
    """A browser asks again for the address it began with, and says which event it got last: it gets every later row, and none twice."""
    begun, _ = next(events_of(site, run))
    stream = events_of(site, run, since=begun)
    seen = [next(stream), next(stream)]
    stream.close()
    steps = [step for _, update in seen for step in update["rows"]["step"]]
    for _ in range(3):
        last, _ = seen[-1]
        stream = events_of(site, run, since=begun, last=last)
        seen = [next(stream), next(stream)]
        stream.close()
        assert seen[0][1]["from"] > 0
        steps += [step for _, update in seen for step in update["rows"]["step"]]
    assert steps == sorted(set(steps))
    assert len(steps) == steps[-1] - steps[0] + 1


@pytest.mark.parametrize("last", ["", "0", "-1", "nan", "9" * 30, "x", "１２", "1, 2"])
def test_whatever_a_browser_says_it_got_last_it_gets_the_run(site, run, last):
    _, update = next(events_of(site, run, last=last.encode()))
    assert (update["id"], update["from"]) == (run.id, 0)
    assert {len(column) for column in update["rows"].values()} == {len(update["rows"]["step"])}


def test_a_stream_of_no_run_is_one_sentence(site):
    answer = site.get("live/nobody")
    assert answer.json() == {"error": entries("en")["runs.unknown"], "key": "runs.unknown"}


def test_who_asks_sees_their_own_runs_only(site, run):
    def mine(token: str) -> list[str]:
        return [one["id"] for one in site.http.get(f"{PREFIX}/runs", headers={"X-Playground-Token": token}).json()["mine"]]

    assert run.id in mine(MINE)
    assert mine(THEIRS) == mine("") == mine(owner_of(MINE)) == []
    cards = [site.http.get(f"{PREFIX}/run/{run.id}", headers={"X-Playground-Token": token}).json() for token in (MINE, THEIRS)]
    assert [card["mine"] for card in cards] == [True, False]
    everything = json.dumps(cards) + site.get(f"live/{run.id}x").text + site.get("boot").text
    assert MINE not in everything
    assert owner_of(MINE) not in everything


def test_our_routes_are_there_before_gradios(site):
    """From the first request on: a page that is opened while the server starts finds all of them, and nothing that is closed."""
    paths = [getattr(route, "path", "") for route in site.app.router.routes]
    gradios = paths.index("/config")
    assert max(at for at, path in enumerate(paths) if path.startswith(PREFIX)) < gradios
    assert paths.index("/gradio_api/deep_link") < gradios
