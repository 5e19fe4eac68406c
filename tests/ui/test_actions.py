"""What a visitor does to runs, and what is posted to Gradio's listeners: every value is checked again; what is no call is one refusal."""

import json
import logging
from math import inf, nan
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from playground.config import KNOBS, LIVE_KNOBS, Experiment, Refusal, default, limits
from playground.features.shared import uploading
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.identity import owner_of
from playground.ui import listeners
from playground.ui.assets import PREFIX
from playground.ui.command import ACTIONS, Command, act, answer_call
from playground.ui.messages import TOKEN, token_of
from playground.ui.network import page_address
from playground.words import LANGUAGES, entries, say
from tests.runs.tiny import at_step
from tests.ui.looking import TINY

MINE, THEIRS = "a" * 32, "b" * 32
NO_COMMANDS = (
    None, [], {}, {"action": "pause"}, {"run": "x"}, {"action": "__init__", "run": "x"}, {"action": ["fork"], "run": "x"},
    {"action": "train", "run": ""}, {"action": "train", "run": "", "knobs": []}, {"action": "rename", "run": "RUN", "label": ["a"]},
    {"action": "live", "run": "RUN", "knob": ["learning_rate"]}, {"action": "control", "run": "RUN", "knob": 7},
    {"action": "experiment", "run": "", "lab": ["skip"], "seed": 1}, {"action": "experiment", "run": "", "lab": "softmax", "seed": 1},
)  # fmt: skip
BODIES = (
    b"[" * 30_000, b"\x00", b'{"action": "stop"}', b"[]", b"null", b"", b"9" * 5000, b"\xff\xfe", b'"\\ud800"', b"action=stop&run=reverse",
    b'{"action": "rename", "run": "reverse", "label": "\xed\xa0\x80"}', b'{"action": "experiment", "run": "", "lab": "\\ud800", "seed": 1}',
)  # fmt: skip
WAYS = ("run/predict", "queue/join")
NO_CALL_BODIES = {
    "nothing": b"", "no JSON": b"[", "a list": b"[]", "null": b"null", "deep": b"[" * 50_000, "endless": b"9" * 5000,
    "half a character": b'{"data": ["\\ud800"]}', "no UTF-8": b'{"data": "\xff"}', "NaN": b'{"data": [NaN]}',
    "half a character, written out": b'{"data": ["\xed\xa0\x80"]}', "half a character in UTF-16": '{"data": ["\\ud800"]}'.encode("utf-16"),
    "UTF-32": '{"data": []}'.encode("utf-32"),
    "infinity": b'{"data": [1e999]}', "long number": b'{"data": [123456789012345678901234567890]}',
    "deep values": b'{"data": ' + b"[" * 60 + b"]" * 60 + b"}",
    "many values": b'{"data": [' + b"0," * 200_000 + b"0]}",
}  # fmt: skip
NO_CALLS = (
    {"fn_index": 10**6}, {"fn_index": -1}, {"fn_index": "7"}, {"fn_index": 7.0}, {"fn_index": True}, {"fn_index": None},
    {"fn_index": [7]}, {"data": None}, {"data": {}}, {"data": []}, {"data": [1]}, {"data": ["default"] * 99}, {"session_hash": ["a"]},
    {"session_hash": "a b"}, {"session_hash": "x" * 65}, {"session_hash": "../.."}, {"session_hash": 7}, {"event_id": {}},
    {"event_id": "\n"}, {"trigger_id": "a"}, {"trigger_id": 1.5}, {"batched": True}, {"simple_format": "yes"}, {"oauth_token": "x"},
)  # fmt: skip


@pytest.fixture
def run(site):
    run = at_step(site.train(MINE, {**TINY, "steps": 100_000}), 1)
    yield run
    if site.runs.find(run.id):
        site.runs.delete(run.id, MINE)


def refusal(site, message):
    """The key of the refusal of a command as the page would send it, and the control that it names."""
    answered = answer_call("en", lambda: act(site.runs, Command.parse(message, MINE, "en"), ACTIONS))
    assert answered["error"].endswith((".", ")"))
    return answered["key"], answered["knob"]


def test_live_knobs_move_on_ones_own_run_alone(site, run):
    live = {name: default(name) for name in LIVE_KNOBS}
    changed = {"memory_mode": "cut", "learning_rate": 0.5, "label_smoothing": 0.3, "max_grad_norm": 2.0}
    assert tuple(changed) == LIVE_KNOBS
    for name, value in changed.items():
        assert (site.act(THEIRS, "control", run.id, knob=name, value=value), run.live) == ({}, live)
        assert site.act(MINE, "control", run.id, knob=name, value=value) == {}
        live[name] = value
        assert run.live == live
    assert site.act(MINE, "live", run.id, knob="memory_mode", value="mean") == {"again": True}
    for knob, value in (("memory_mode", "half"), ("d_model", 16), (None, 1), ("max_grad_norm", nan)):
        with pytest.raises(Refusal):
            site.act(MINE, "live", run.id, knob=knob, value=value)
    assert run.live == live | {"memory_mode": "mean"}
    assert site.act(MINE, "control", knob="learning_rate", value=0.1) == {}, "without a run it means the next one"


def test_what_is_no_command_no_value_of_a_knob_or_an_odd_message_is_refused_in_a_language_there_is(site, run):
    for message in NO_COMMANDS:
        own = {"run": run.id} if isinstance(message, dict) and message.get("run") == "RUN" else {}
        assert refusal(site, message | own if own else message) == ("page.not_a_command", None), message
    assert run.label == ""
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
    for body in BODIES:
        for reply in (site.command(body, MINE), site.http.post(f"{PREFIX}/room/join", content=body, headers={"X-Playground-Token": MINE})):
            assert (reply.status_code, reply.json()["key"]) == (400, "page.not_a_command"), body[:40]
    for language in ("zh", "", "../../etc", "xx", '["en"]', "\x00"):
        known = language if language in LANGUAGES else "en"
        assert site.command({}, MINE, language).json()["error"] == say(known, "page.not_a_command"), language


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
    monkeypatch.setenv("SPACE_HOST", "me-app.hf.space,own.example")  # a Space has another name inside
    assert page_address("http://10.0.0.1/") == "https://me-app.hf.space/"
    for number, headers in enumerate([*here, *({"Origin": f"https://{name}"} for name in ("me-app.hf.space", "own.example"))]):
        message = {"action": "rename", "run": run.id, "label": f"label {number}"}
        assert (site.command(message, MINE, **headers).json(), run.label) == ({"again": True}, f"label {number}")


def test_who_asks_sees_their_own_runs_only_and_no_key_and_a_key_of_another_makes_both_its_own(site, run):
    def read(path: str, token: str):
        return site.http.get(f"{PREFIX}/{path}", headers={"X-Playground-Token": token})

    assert [one["id"] for one in read("runs", MINE).json()["mine"]] == [run.id]
    assert [read("runs", token).json()["mine"] for token in (THEIRS, "", owner_of(MINE))] == [[], [], []]
    cards = [read(f"run/{run.id}", token) for token in (MINE, THEIRS)]
    assert [card.json()["mine"] for card in cards] == [True, False]
    for reply in (*cards, *(read(path, MINE) for path in ("boot", "runs", "panel/runs", "history"))):
        assert not [key for key in (MINE, owner_of(MINE)) if key in reply.text]
    assert token_of(Headers({TOKEN: "x" * 200})) == "x" * 128
    key = "c" * 32
    there = site.train(key, {**TINY, "steps": 2})
    for entered, sentence in {"": "not_a_key", "c" * 31: "not_a_key", "C" * 32: "not_a_key", "d" * 32: "key_unknown"}.items():
        assert refusal(site, {"action": "take_key", "run": "", "key": entered})[0] == f"page.{sentence}", entered
    assert site.act(MINE, "take_key", key=key) == {"notice": say("en", "page.key_taken", count=2)}
    assert (set(site.runs.list_owned(key)), site.runs.list_owned(MINE)) == ({run, there}, [])
    for one in (run, there):
        site.runs.delete(one.id, key)


class Page:
    """Gradio's own list of components and listeners, and how a browser posts to them."""

    def __init__(self, site) -> None:
        self.site, self.config = site, site.http.get("/config").json()
        self.listeners = {one["api_name"]: one for one in self.config["dependencies"]}
        self.props = {one["id"]: one["props"] for one in self.config["components"]}
        self.files = {one["id"] for one in self.config["components"] if one["type"] == "file"}

    def name(self, id: int) -> str:
        return (self.props[id].get("elem_id") or "").removeprefix("knob-")

    def call(self, name: str, **changed: object) -> dict:
        """A call with the values that the controls hold at first, but for those that are `changed`."""
        usual = Experiment().flat() | {"preset": "default", "pg-paste": "ab\tba\ncd\tdc\nef\tfe", "pg-hub": ""} | changed
        listener = self.listeners[name]
        data = [None if id in self.files else usual.get(self.name(id), {"language": "en"}) for id in listener["inputs"]]
        return {"data": data, "fn_index": listener["id"], "session_hash": "calls"}

    def post(self, way: str, body: object):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.site.http.post(f"/gradio_api/{way}", content=content, headers={"Content-Type": "application/json"})

    def queued(self, body: dict) -> dict:
        self.post("queue/join", body).raise_for_status()
        with self.site.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": body["session_hash"]}) as lines:
            return json.loads(next(line for line in lines.iter_lines() if '"process_completed"' in line).removeprefix("data: "))


@pytest.fixture(scope="module")
def page(site) -> Page:
    """Opened in a browser: Gradio has made each control anew with its words."""
    page = Page(site)
    arrive = next(one for one in page.listeners.values() if any(event == "load" for _, event in one["targets"]))
    page.post("run/predict", {"data": [{"address": ""}], "fn_index": arrive["id"], "session_hash": "calls"}).raise_for_status()
    return page


def refused(answer, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert (body.keys(), body["error"]) == ({"error", "detail", "key"}, body["detail"])
    assert "\n" not in body["error"]
    assert body["key"] in entries("en")
    return body["key"]


def test_what_is_no_json_object_or_no_call_is_one_sentence(page):
    for way in (*WAYS, "call/translate", "call/v2/translate"):
        for name, body in NO_CALL_BODIES.items():
            assert refused(page.post(way, body)) == "api.no_json", (way, name)
    fits = {"event_id": None, "trigger_id": 3, "oauth_token": None, "simple_format": False, "batched": False, "session_hash": "x" * 64}
    assert page.post("run/predict", page.call("take_preset") | fits).status_code == 200
    for way in WAYS:
        for changed in NO_CALLS:
            assert refused(page.post(way, page.call("take_preset") | changed)) == "page.not_a_command", (way, changed)
    for name in ("%0A%0D", "take%7Ftask", "%00"):
        assert refused(page.post(f"run/{name}", page.call("reset"))) == "page.not_a_command", name
    named = {name: value for name, value in page.call("take_preset").items() if name != "fn_index"}
    assert refused(page.post("run/no_such_listener", named)) == "page.not_a_command"


def test_a_value_of_another_kind_is_one_sentence_to_the_caller_and_one_line_in_the_log(page, caplog, capfd):
    for number in range(1, len(page.listeners["read"]["inputs"])):
        call = page.call("read") | {"session_hash": "queued"}
        call["data"][number] = 7 if number < 4 else {}
        with caplog.at_level(logging.INFO, "playground.ui.calls"):
            if number == 1:  # files
                assert refused(page.post("queue/join", call)) == "page.not_a_command"
            else:
                answer = page.queued(call)["output"]["data"][0]
                assert answer.get("key", "page.not_a_command") == "page.not_a_command", "a refusal, or a knob's usual value"
    assert "Traceback" not in capfd.readouterr().err
    assert any("read" in record.getMessage() for record in caplog.records)


def test_no_file_of_the_server_is_read_as_an_upload(page, site):
    secret = Path(site.runs.store.folder) / "pairs.tsv"
    secret.write_text("a\tb\nc\td\n")
    for path in map(str, (secret, Path(__file__).parents[2] / "README.md", "/etc/passwd", f"{site.url}gradio_api/playground/boot")):
        for file in ({"path": path, "meta": {"_type": "gradio.FileData"}}, {"path": path}, path):
            call = page.call("read", **{"pg-paste": ""}) | {"session_hash": "files"}
            call["data"][1] = [file]
            assert refused(page.post("queue/join", call)) == "page.not_a_command", file
        assert site.http.get(f"/gradio_api/file={path}").status_code == 404
    for beside in ({}, None, {"own": ["a"], "language": {}}):  # the way that is closed to files is open to pasted pairs
        call = page.call("read") | {"session_hash": "pasted"}
        call["data"][0] = beside
        assert page.queued(call)["output"]["data"][0]["reading"]["pairs"] == 2  # the first line is a header


def test_a_time_suits_own_pairs_and_a_mistake_in_a_listener_is_the_servers_and_says_nothing_of_it(page, site, monkeypatch, capfd):
    pairs = Pairs(tuple(Pair(f"word{n} of{n}", f"wort{n} von{n}", n + 1) for n in range(300)), {}, 300, "tsv", ("own.tsv",))
    own = uploading.store_upload(pairs, uploading.ticket_of("a key"))
    asked = {"language": "en", "own": own, "ticket": uploading.ticket_of("a key")}
    call = page.call("take_minutes", minutes=5.0, task="own")
    call["data"] = [asked if value == {"language": "en"} else value for value in call["data"]]
    given = dict(zip(map(page.name, page.listeners["take_minutes"]["inputs"]), call["data"], strict=True))
    told = [None if isinstance(value, dict) else value for value in page.post("run/predict", call).json()["data"]]
    suits = uploading.timed_values(pairs, own, given, told[0])
    assert suits
    assert dict(zip(uploading.TIMED[1:], told[1:], strict=True)) == {name: suits.get(name) for name in uploading.TIMED[1:]}
    def broken(*values):
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr(listeners, "default", broken)
    answer = page.post("run/predict", page.call("reset"))
    assert refused(answer, 500) == "page.went_wrong"
    assert "secret" not in answer.text
    assert "a secret of the server" in capfd.readouterr().err, "the log has it"
