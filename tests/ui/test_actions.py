"""What a visitor does to runs: an owner's actions, what everybody may do, what other pages may not, and every value checked again."""

from math import inf, nan

import pytest
from starlette.datastructures import Headers

from playground.config import KNOBS, LIVE_KNOBS, Refusal, default, limits
from playground.runs.names import owner_of
from playground.ui.assets import PREFIX
from playground.ui.command import TOKEN, Command, act, answer_call, token_of
from playground.words import LANGUAGES, say
from tests.runs.tiny import at_step
from tests.ui.looking import TINY

MINE, THEIRS = "a" * 32, "b" * 32


@pytest.fixture
def run(site):
    run = at_step(site.train(MINE, {**TINY, "steps": 100_000}), 1)
    yield run
    if site.runs.find(run.id):
        site.runs.delete(run.id, MINE)


def refusal(site, message):
    """The key of the refusal of a command as the page would send it, and the control that it names."""
    answered = answer_call("en", lambda: act(site.runs, Command.parse(message, MINE, "en")))
    assert answered["error"].endswith((".", ")"))
    return answered["key"], answered["knob"]


def test_live_knobs_move_on_ones_own_run_alone(site, run):
    live = {name: default(name) for name in LIVE_KNOBS}
    changed = {"memory_mode": "cut", "learning_rate": 0.5, "label_smoothing": 0.3, "max_grad_norm": 2.0}
    assert tuple(changed) == LIVE_KNOBS
    for name, value in changed.items():
        assert site.act(THEIRS, "control", run.id, knob=name, value=value) == {}
        assert run.live == live
        assert site.act(MINE, "control", run.id, knob=name, value=value) == {}
        live[name] = value
        assert run.live == live
    assert site.act(MINE, "live", run.id, knob="memory_mode", value="mean") == {"again": True}
    for knob, value in (("memory_mode", "half"), ("d_model", 16), (None, 1), ("max_grad_norm", nan)):
        with pytest.raises(Refusal):
            site.act(MINE, "live", run.id, knob=knob, value=value)
    assert run.live == live | {"memory_mode": "mean"}
    assert site.act(MINE, "control", knob="learning_rate", value=0.1) == {}, "without a run it means the next one"


NO_COMMANDS = (
    None, [], {}, {"action": "pause"}, {"run": "x"}, {"action": "__init__", "run": "x"}, {"action": ["fork"], "run": "x"},
    {"action": "train", "run": ""}, {"action": "train", "run": "", "knobs": []}, {"action": "rename", "run": "RUN", "label": ["a"]},
    {"action": "live", "run": "RUN", "knob": ["learning_rate"]}, {"action": "control", "run": "RUN", "knob": 7},
    {"action": "experiment", "run": "", "lab": ["skip"], "seed": 1}, {"action": "experiment", "run": "", "lab": "softmax", "seed": 1},
)  # fmt: skip


def test_what_is_no_command_is_refused(site, run):
    for message in NO_COMMANDS:
        own = {"run": run.id} if isinstance(message, dict) and message.get("run") == "RUN" else {}
        assert refusal(site, message | own if own else message) == ("page.not_a_command", None), message
    assert run.label == ""


def test_no_knob_takes_nonsense(site):
    numbers = [name for name in KNOBS if not limits(name).text]
    for name in numbers:
        for value in (nan, inf, "nonsense", [], {}, 1e300, -1):
            key, knob = refusal(site, {"action": "train", "run": "", "knobs": {**TINY, name: value}})
            assert (key.partition(".")[0], knob) == ("config", name), (name, value)
    assert refusal(site, {"action": "train", "run": "", "knobs": {**TINY, "magic": 1}}) == ("config.unknown", None)
    assert refusal(site, {"action": "train", "run": "", "knobs": {**TINY, "task": "own"}})[1] == "task"
    huge = {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 16384, "n_heads": 8}
    assert refusal(site, {"action": "train", "run": "", "knobs": huge})[0] == "model.too_large"
    for step in ("soon", inf, nan, [1], -1):
        assert refusal(site, {"action": "fork", "run": "reverse", "step": step})[0].startswith("config."), step


def test_a_key_of_another_browser_makes_the_runs_of_both_its_own(site, run):
    key = "c" * 32
    there = site.train(key, {**TINY, "steps": 2})
    for entered, sentence in {"": "not_a_key", "c" * 31: "not_a_key", "C" * 32: "not_a_key", "d" * 32: "key_unknown"}.items():
        assert refusal(site, {"action": "take_key", "run": "", "key": entered})[0] == f"page.{sentence}", entered
    assert site.act(MINE, "take_key", key=key) == {"notice": say("en", "page.key_taken", count=2)}
    assert (set(site.runs.list_owned(key)), site.runs.list_owned(MINE)) == ({run, there}, [])
    for one in (run, there):
        site.runs.delete(one.id, key)


def test_only_a_page_of_this_server_is_heard_though_another_knows_the_token(site, run, monkeypatch):
    """Same-site is another port or name, none is typed into the address bar; a request without both headers is no browser's."""
    host = site.url.split("//")[1].rstrip("/")
    elsewhere = [{"Sec-Fetch-Site": kind} for kind in ("cross-site", "same-site", "none")]
    elsewhere += [{"Sec-Fetch-Site": "cross-site", "Origin": f"http://{host}"}]
    elsewhere += [{"Origin": "https://elsewhere.example", "X-Forwarded-Host": "elsewhere.example"}]
    others = ("https://elsewhere.example", "http://127.0.0.1:1", f"http://{host}.a.example", "null", "", "http://[")
    elsewhere += [{"Origin": origin} for origin in (*others, "https://me-app.hf.space")]
    here = [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": f"https://{host}"}]
    for number, headers in enumerate(elsewhere):
        language = LANGUAGES[number % len(LANGUAGES)]
        answer = site.command({"action": "rename", "run": run.id, "label": "taken"}, MINE, language, **headers)
        refused = {"error": say(language, "page.not_from_here"), "key": "page.not_from_here"}
        assert (answer.status_code, answer.json(), run.label) == (403, refused, ""), headers
        room = site.http.post(f"{PREFIX}/room/forget", params={"lang": language}, json={}, headers={"X-Playground-Token": MINE} | headers)
        assert (room.status_code, room.json()) == (403, refused), headers
    form = site.command({"action": "stop", "run": run.id}, None, **{"Content-Type": "text/plain"})  # which can send no token
    assert (form.status_code, form.json()["key"], run.status) == (403, "runs.no_token", "training")
    monkeypatch.setenv("SPACE_HOST", "me-app.hf.space")  # a Space has another name inside
    for number, headers in enumerate([*here, {"Origin": "https://me-app.hf.space"}]):
        message = {"action": "rename", "run": run.id, "label": f"label {number}"}
        assert site.command(message, MINE, **headers).json() == {"again": True}
        assert run.label == f"label {number}"


BODIES = (
    b"[" * 30_000, b"\x00", b'{"action": "stop"}', b"[]", b"null", b"", b"9" * 5000, b"\xff\xfe", b'"\\ud800"', b"action=stop&run=reverse",
    b'{"action": "rename", "run": "reverse", "label": "\xed\xa0\x80"}', b'{"action": "experiment", "run": "", "lab": "\\ud800", "seed": 1}',
)  # fmt: skip


def test_odd_messages_are_refused_in_a_language_there_is_and_have_an_end(site):
    for body in BODIES:
        for reply in (site.command(body, MINE), site.http.post(f"{PREFIX}/room/join", content=body, headers={"X-Playground-Token": MINE})):
            assert (reply.status_code, reply.json()["key"]) == (400, "page.not_a_command"), body[:40]
    for language in ("zh", "", "../../etc", "xx", '["en"]', "\x00"):
        known = language if language in LANGUAGES else "en"
        assert site.command({}, MINE, language).json()["error"] == say(known, "page.not_a_command"), language


def test_who_asks_sees_their_own_runs_only_and_no_key(site, run):
    def read(path: str, token: str):
        return site.http.get(f"{PREFIX}/{path}", headers={"X-Playground-Token": token})

    assert [one["id"] for one in read("runs", MINE).json()["mine"]] == [run.id]
    assert [read("runs", token).json()["mine"] for token in (THEIRS, "", owner_of(MINE))] == [[], [], []]
    cards = [read(f"run/{run.id}", token) for token in (MINE, THEIRS)]
    assert [card.json()["mine"] for card in cards] == [True, False]
    for reply in (*cards, *(read(path, MINE) for path in ("boot", "runs", "panel/runs", "history"))):
        assert not [key for key in (MINE, owner_of(MINE)) if key in reply.text]


def test_a_token_is_read_to_its_128th_character():
    assert token_of(Headers({TOKEN: "x" * 200})) == "x" * 128
