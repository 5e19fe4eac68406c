"""Each person is answered by the right of a route, listener or action; another's id opens nothing; own sentences are their owner's."""

import json
import pickle
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from playground.config import Refusal, default
from playground.features.registry import PANELS
from playground.features.shared import uploading
from playground.lessons import controlled
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.rooms.registry import DAY
from playground.runs.disk.saves import open_save
from playground.runs.identity import owner_of
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.command import ACTIONS
from playground.ui.endpoints import add_endpoints, bind_endpoints
from playground.ui.page import build_page
from playground.ui.rights import OFF, Right, Table
from playground.words import LANGUAGES, say
from tests import rights
from tests.export.test_taken_home import opened
from tests.hostile.attack import Attack
from tests.hostile.people import GRADIO, SOURCE, Call, People, valid_calls
from tests.reading.test_unpacking import zipped
from tests.rights import LAST, PEOPLE, Row, others_in, who_may
from tests.runs.tiny import at_step, done, same_parameters
from tests.ui import looking
from tests.ui.looking import TINY, call, refused
from tests.ui.test_actions import MINE, THEIRS
from tests.ui.test_rooms import ANNA, ARMS, BEN, TEACHER, do

CLOSED, ROOMS = ("page.not_a_command", "page.not_there"), {"rooms.not_in", "rooms.not_teacher"}
REFUSED = {"runs.no_token", "api.no_owner", "runs.not_yours", "runs.sentences_private", "page.no_upload"} | ROOMS
ROUTINE = {f"GET {GRADIO}/upload_progress", f"GET {GRADIO}/heartbeat/{{session_hash}}"}  # of Gradio's, which wait and know no ids
LABEL = "label-of-the-owner"
STRANGER = "s" * 32
CANARIES = ("kanarie", "zeisig")  # a word of every source, and of every target
SENTENCES = Pairs(tuple(Pair(f"kanarie {n} sings", f"zeisig {n} singt", n + 1) for n in range(60)), {}, 60, "tsv", ("own.tsv",))
KNOBS = {**TINY, "task": "own", "tokenizer": "characters", "steps": 10}
BESIDE = ("training", "runs", "same_sentence", "disagreements", "reach")  # panels of another run that look at this one
WITHOUT = ("runs", "board", "training", "course", "labs")  # panels that have something to show without the sentences


@pytest.fixture(scope="module")
def rows(site) -> dict[str, Row]:
    """A valid call of everything in the table, made by each of PEOPLE."""
    return {row.kind: row for row in rights.rows(People.come(site.http.base_url.port))}


@pytest.fixture(scope="module", autouse=True)
def _train_little() -> Iterator[None]:
    with patch.dict(controlled.SMALL, steps=2):
        yield


def test_each_person_may_do_what_the_table_says_and_nothing_else_and_reads_nothing_of_another(rows):
    wrong = {}
    for row in rows.values():
        for who in PEOPLE:
            reply = row.answers[who]
            if reply not in CLOSED if row.right is Right.OFF else (reply in REFUSED) == (who in who_may(row.right)):
                wrong[row.kind, who] = row.right, reply
    assert (wrong, len(rights.table(list(rows.values())).splitlines())) == ({}, 2 + len(rows))
    assert {row.kind: row.read for row in rows.values() if row.read} == {}


def test_a_stranger_changes_nothing_whatever_token_they_have(site):
    run = at_step(site.train(MINE, TINY | {"steps": 100_000}), 1)
    owned = [action for action, (right, _) in ACTIONS.items() if right is Right.OWNER]
    assert len(owned) > 5
    live, values = dict(run.live), {"label": "taken", "knob": "learning_rate", "value": 0.5, "shared": True, "step": 1}
    for token in (THEIRS, "", None, owner_of(MINE), run.id, "0", '["a"]', "a" * 33, f"{MINE},{THEIRS}"):
        before = len(site.runs.list_unshipped())
        for action in (*owned, *(["train", "fork", "tune", "copy", "repeat"] if not token else [])):
            answer = site.command({"action": action, "run": run.id, "knobs": TINY, **values}, token)
            assert answer.json()["key"] == ("runs.not_yours" if token else "runs.no_token"), (action, token)
        assert site.runs.get(run.id) is run
        assert len(site.runs.list_unshipped()) == before
        assert (run.status, run.label, run.live, run.sentences_shared) == ("training", "", live, False)
    site.runs.stop(run.id, MINE)


def routes_of(app) -> Iterator[tuple[str, str]]:
    """(method, path) of every route, those of included routers too."""
    for route in app.routes:
        for one in route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]:
            for method in getattr(one, "methods", None) or ():
                yield method, one.path


def test_all_that_can_be_reached_is_declared_and_no_route_takes_another_method(site):
    """A route or listener without a declared right is closed: give it a GuardedRoute, or add it to Listeners, with its right."""
    there, table = set(routes_of(site.app)), Table(site.app.routes)
    rows = {(rule.method, rule.path) for rule in table.rules}
    assert {(method, path) for method, path in there if path.startswith(PREFIX) and method != "HEAD"} <= rows <= there
    page, listeners = build_page(site.runs, MagicMock())
    listeners |= add_endpoints(page, bind_endpoints(site.runs, site.reader, MagicMock()))
    assert {event["id"] for event in page.get_config_file()["dependencies"] if event["backend_fn"]} == listeners.keys()
    assert table.find("/monitoring") == table.find(f"{PREFIX}/something/new") == Table().find(f"{PREFIX}/command") == {}
    assert table.rule_of({"method": "PUT", "path": f"{PREFIX}/command"}).right is OFF
    paths = [getattr(route, "path", "") for route in site.app.router.routes]  # ours come first, from the first request on
    assert max(at for at, path in enumerate(paths) if path.startswith(PREFIX)) < paths.index("/config")
    assert paths.index("/gradio_api/deep_link") < paths.index("/config")
    table = Table(site.app.routes)
    for path in {re.sub(r"\{.*?\}", "reverse", rule.path) for rule in table.rules if rule.path.startswith(PREFIX)}:
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "X"):
            others = sorted(table.find(path))
            if method not in others:
                answer = site.http.request(method, path)
                assert (answer.status_code, answer.headers["allow"]) == (405, ", ".join(others)), (method, path)
                assert answer.json()["key"] == "page.not_there"


@pytest.fixture(scope="module")
def people(site) -> People:
    people = People.come(site.http.base_url.port)
    site.act(people.tokens["owner"], "rename", people.run, label=LABEL)
    return people


def placed(value: Any, secret: str, each: bool) -> Iterator[Any]:
    """The value with `secret` in place of each that it holds, and under each name in each object; in a list one by one, or at once."""
    if isinstance(value, dict):
        yield value | {"task": "own", "own": secret}
        for key, inner in value.items():
            if each or key == "data" or "data" not in value:  # what stands around a listener's data is Gradio's
                yield from (value | {key: one} for one in placed(inner, secret, each))
    elif isinstance(value, list):
        is_plain = [not isinstance(inner, dict | list) for inner in value]
        yield [secret if plain else inner for plain, inner in zip(is_plain, value, strict=True)]
        for at, inner in enumerate(value):
            if each or not is_plain[at]:
                yield from ([*value[:at], one, *value[at + 1 :]] for one in placed(inner, secret, each))
    else:
        yield secret


def calls_with(call: Call, secret: str, each: bool) -> Iterator[Call]:
    """In the room the teacher asks, who may change it, and may not read what the owner has."""
    who = "teacher" if call.kind.startswith("room") and call.kind not in LAST else "stranger"
    for part in ("query", "body"):
        if isinstance(getattr(call, part), dict):
            yield from (replace(call, **{part: value}, who=who) for value in placed(getattr(call, part), secret, each))


def owned(site, people: People) -> list[object]:
    """All that is the owner's or was made of it, and whether the room names it."""
    run = site.runs.get(people.run)
    room = people.get(f"{PREFIX}/room?code={people.room}", "teacher")
    made = [one.id for one in site.runs.find_by_data(people.own)], len(site.runs.list_owned(people.tokens["owner"]))
    return [run.label, run.status, run.step, run.sentences_shared, dict(run.live), *made, people.own in str(room)]


@pytest.mark.parametrize("each", [False, pytest.param(True, marks=pytest.mark.night)])
def test_the_ids_of_others_open_nothing_wherever_they_stand(site, people, each):
    """By day the id of sentences, which is no link; that of their run at night as well."""
    before, calls, secrets = owned(site, people), valid_calls(people), (people.own, people.run)[: 1 + each]
    attack = Attack(people.port, calls, people)
    for kind in sorted(set(calls) - ROUTINE, key=lambda kind: kind in LAST):
        for attempt in (attempt for secret in secrets for attempt in calls_with(calls[kind], secret, each)):
            _, answer = attack.answered(attempt, "hostile")
            assert others_in(attempt, answer, people) == set(), attempt
            assert SOURCE.encode() not in answer, attempt
            assert LABEL.encode() not in answer, attempt
        assert owned(site, people) == before, kind


@pytest.fixture(scope="module")
def own(site) -> Run:
    lines = "\n".join(f"{source}\t{target}" for source, target, _ in SENTENCES.pairs)
    run = done(site.train(BEN, {**KNOBS, "own": uploading.read_upload(None, lines, "", "", "en", uploading.ticket_of(BEN))["own"]}))
    assert run.status == "done", run.message
    site.act(BEN, "rename", run.id, label=f"Ben's {CANARIES[0]}")
    return run


@pytest.fixture
def room(site) -> Iterator[str]:
    """The code of a room that Anna is in as well as Ben."""
    code = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    for token in (ANNA, BEN):
        do(site, token, "join", code=code, nickname="")
    yield code
    do(site, TEACHER, "end", code=code)


def get(site, path: str, token: str, **query: str) -> str:
    """What a route says: bytes as text, and of a zip or a workbook every file."""
    answer = site.http.get(f"{PREFIX}/{path}", params=query, headers={"X-Playground-Token": token})
    if not answer.content.startswith(b"PK"):
        return answer.content.decode("utf-8", "replace")
    return "".join(data.decode("utf-8", "replace") for data in opened([answer.content]).values())


def leaks(site, run: Run, token: str, **more: str) -> set[str]:
    """Where a sentence is told, whole or cut into its characters, of all that is told about a run."""
    own, query = run.experiment.data.own, {"run": run.id, **more}
    beside = {**more, "run": "reverse", "text": "k", "runs": f"{run.id},reverse", **dict.fromkeys(("compare", "pin", "mapped"), run.id)}
    contents = {f"panel {name}": get(site, f"panel/{name}", token, **query) for name in PANELS}
    contents |= {f"panel {name} of another run": get(site, f"panel/{name}", token, **beside) for name in BESIDE}
    contents |= {"status": str(looking.call(site, "status", run=run.id)), "update": site.runs.update(run)[0].decode()}
    contents |= {"card": get(site, f"run/{run.id}", token), "boot": get(site, "boot", token, **query), "runs": get(site, "runs", token)}
    contents |= {f"export {kind}": get(site, "export", token, own=own, kind=kind) for kind in ("tsv", "json")}
    files = ("reading", "preview", "code", "attention", "workbook", "table", "history")
    contents |= {name: get(site, name, token, own=own, **query) for name in files}
    contents |= {f"zip {sentences}": get(site, f"takeaway/{run.id}", token, sentences=sentences) for sentences in ("off", "on")}
    texts = {place: text + "".join(re.findall(r'"text":"(.)"', text)) for place, text in contents.items()}
    return {place for place, text in texts.items() if any(word in text for word in CANARIES)}


def test_the_owner_alone_sees_them_until_they_are_shared(site, own, room):
    panels = {"panel data", "panel sentence", "panel training", "panel runs"}
    owners = {"card", "export tsv", "reading", "preview", "runs", "code", "workbook", "zip off", "zip on"} | panels
    assert owners <= leaks(site, own, BEN)
    assert leaks(site, own, STRANGER) == leaks(site, own, ANNA, room=room) == set()
    assert say("en", "api.dialog_private") in get(site, "code", BEN, run=own.id, root=site.url)
    site.act(BEN, "share_sentences", own.id, shared=True)
    assert {"card", "export tsv", "panel data", "panel sentence", "workbook", "zip off"} <= leaks(site, own, STRANGER)
    copy = site.runs.get(site.act(STRANGER, "copy", own.id)["run"])
    assert not copy.sentences_shared
    site.runs.delete(copy.id, STRANGER)
    site.act(BEN, "share_sentences", own.id, shared=False)
    assert leaks(site, own, STRANGER) == set()


def test_without_them_there_are_settings_and_curves(site, own):
    for language in LANGUAGES:
        for name in PANELS:
            answer = site.panel(name, run=own.id, lang=language)
            assert answer.get("error") in ((None,) if name in WITHOUT else (None, say(language, "runs.sentences_private"))), name
    assert {block["id"] for block in site.panel("training", run=own.id)["blocks"]} >= {"private", "curves"}
    for endpoint in ("translate", "attention"):
        assert refused(site, endpoint, run=own.id, text="kanarie 1 sings", owner=STRANGER)[0] == "runs.sentences_private"
    assert looking.call(site, "translate", run=own.id, text="kanarie 1 sings", owner=BEN)["references"] == ["zeisig 1 singt"]
    card, status = site.get(f"run/{own.id}").json(), looking.call(site, "status", run=own.id)
    assert (card["settings"]["own"], "own" in status["settings"]) == ("", False)


def test_they_can_not_be_taken_by_a_run_of_another_and_what_the_teacher_deals_is_shared_with_the_class(site, own, room):
    for action in ("copy", "fork", "repeat", "tune"):
        with pytest.raises(Refusal, check=lambda refusal: refusal.key == "runs.sentences_private"):
            site.act(STRANGER, action, own.id, knobs=KNOBS, edits="memory:0,0=1")
    taken = {**KNOBS, "own": own.experiment.data.own}
    for knobs, arms in ((taken, ARMS), ({**KNOBS, "task": "copy"}, [{"task": "copy"}, {"task": "own", "own": taken["own"]}])):
        answer = do(site, TEACHER, "deal", code=room, knobs=knobs, arms=arms, order="together")
        assert answer["key"] == "page.no_upload", arms
    knobs = {**KNOBS, "own": uploading.store_upload(SENTENCES, uploading.ticket_of(TEACHER))}
    name = do(site, TEACHER, "deal", code=room, knobs=knobs, arms=ARMS, order="together")["activity"]
    run = site.runs.get(do(site, ANNA, "train", code=room, activity=name)["run"])
    assert (run.sentences_shared, run.pairs) == (True, SENTENCES)


def test_a_run_is_fine_tuned_on_other_data_after_what_it_does_not_know_is_said(site, own):
    """Its model and tokenizers stay, whatever the controls say; the first parameters are its own."""
    for knobs, source in (({**KNOBS, "own": own.experiment.data.own, "d_model": 16}, "reverse"), ({**TINY, "task": "copy"}, own.id)):
        question = site.act(BEN, "tune", source, knobs=knobs)
        assert (list(question), source == own.id or say("en", "tasks.reverse.label") in question["ask"]) == (["ask"], True)
        tuned = done(site.runs.get(site.act(BEN, "tune", source, knobs=knobs, sure=True)["run"]))
        base = site.runs.get(source)
        assert (tuned.status, tuned.message.key, tuned.message.say("en")) == ("done", "runs.tuned", question["ask"])
        assert open_save(site.runs.store.path(tuned), tuned.id).run.message.say("zh") == tuned.message.say("zh")
        assert [each.to_bytes() for each in tuned.tokenizers] == [each.to_bytes() for each in base.tokenizers]
        assert (tuned.experiment.model, tuned.parent) == (replace(base.experiment.model, dropout=default("dropout")), (source, base.step))
        assert tuned.replay.parameter_steps[0] == 0
        change = max(float((now - base.snapshot.parameters[name]).abs().max()) for name, now in tuned.replay.parameters(0)[1].items())
        assert change < 0.02, "the first frame's, rounded"
        assert uploading.find_pairs(site.runs, tuned.experiment.data.own, uploading.ticket_of(BEN)).pairs
        again = done(site.runs.get(site.act(BEN, "repeat", tuned.id)["ticked"][1]))  # with another seed, from the same base
        assert (again.parent, again.pairs, again.beside) == (tuned.parent, tuned.pairs, tuned.id)
        assert same_parameters(*(run.replay.parameters(0)[1] for run in (tuned, again)))
    tuned.parent = ("deleted", 1)
    with pytest.raises(Refusal, match=f"^{re.escape(say('en', 'runs.base_gone', name=tuned.name))}$"):
        site.act(BEN, "repeat", tuned.id)
    assert "0 % of the new source" not in question["ask"]
    state = call(site, "train", owner=BEN, base="reverse", **{**TINY, "task": "sort", "steps": 2})
    assert "step 90" in state["message"]


def test_a_downloaded_run_opens_as_its_takers_and_is_data(site, own):
    content = site.http.get(f"{PREFIX}/takeaway/{own.id}", params={"sentences": "on"}, headers={"X-Playground-Token": BEN}).content
    contents = {f"folder/{name}": data for name, data in opened([content]).items()}
    contents["folder/model.py"] = b"raise SystemExit"

    def send(token: str | None = STRANGER, **changes: bytes | None) -> dict:
        changed = contents | {f"folder/{name.replace('_', '.', 1)}": data for name, data in changes.items()}
        body = zipped(*((name, data) for name, data in changed.items() if data is not None))
        headers = {} if token is None else {"X-Playground-Token": token}
        return site.http.post(f"{PREFIX}/open", params={"name": "taken.zip"}, content=body, headers=headers).json()

    answer = send()
    copy = site.runs.get(answer["run"])
    assert answer["notice"].startswith("taken "), "by the name that the list of runs has"
    assert (copy.label, copy.status, copy.step, copy.parent) == ("taken", "done", own.step, None)
    assert site.runs.owns(copy.id, STRANGER)
    assert (leaks(site, copy, ANNA), copy.history.validations.rows()) == (set(), own.history.validations.rows())
    assert same_parameters(copy.snapshot.parameters, own.snapshot.parameters)
    ours, theirs = (site.runs.corpora.get(run.experiment, run.pairs) for run in (copy, own))
    assert ours.heldout == theirs.heldout
    for name in PANELS:
        assert "error" not in json.loads(get(site, f"panel/{name}", STRANGER, run=copy.id)), name
    assert done(site.runs.get(site.act(STRANGER, "fork", copy.id)["run"])).status == "done"
    assert site.runs.get(send(run_ipynb=None)["run"]).pairs.given == (0, 0)
    pickled = pickle.dumps({"weight": 1})
    for key, answer in (
        ("export.without_sentences", send(sentences_tsv=None)), ("runs.not_a_run", send(model_safetensors=pickled)),
        ("export.not_a_zip", send(model_safetensors=None, model_pt=pickled)), ("runs.not_a_run", send(history_csv=b"step\n1\n")),
        ("runs.not_a_run", send(config_json=b"[]")), ("runs.no_token", send(token=None)),
    ):  # fmt: skip
        assert answer["key"] == key


@pytest.mark.parametrize("run", [True, False], ids=["of a run", "of no run yet"])
def test_the_id_of_an_upload_tells_a_stranger_not_even_whether_there_is_one(site, own, run):
    id = own.experiment.data.own if run else uploading.store_upload(SENTENCES, uploading.ticket_of(BEN))
    for token in (STRANGER, ""):
        for path in ("export", "reading", "preview"):
            theirs, none = (get(site, path, token, own=one, kind="tsv") for one in (id, "nothing"))
            assert theirs == none, path
            assert '"page.no_upload"' in none
    with pytest.raises(Refusal, check=lambda refusal: refusal.key == "page.no_upload"):
        site.act(STRANGER, "train", knobs={**KNOBS, "own": id})
    uploading.forget(id, uploading.ticket_of(STRANGER))
    assert uploading.find_pairs(site.runs, id, uploading.ticket_of(STRANGER)) is None
    assert "zeisig" in get(site, "export", BEN, own=id, kind="tsv")
