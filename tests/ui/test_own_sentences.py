"""Own sentences are their owner's: nobody else gets one by any route or panel, unless the owner shares them with the run's link."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Iterator

import pytest

from playground.config import Refusal
from playground.reading.uploads import Pair, Pairs
from playground.rooms.registry import DAY
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.panels import PANELS
from playground.ui.upload import uploading
from playground.words import LANGUAGES, say
from tests.runs.tiny import TINY, done
from tests.ui.endpoints.calls import call
from tests.ui.test_rooms import ANNA, BEN, TEACHER, do

STRANGER = "s" * 32
CANARIES = ("kanarie", "zeisig")  # a word of every source, and of every target
SENTENCES = Pairs(tuple(Pair(f"kanarie {n} sings", f"zeisig {n} singt", n + 1) for n in range(60)), {}, 60, "tsv", ("own.tsv",))
KNOBS = {**TINY, "task": "own", "tokenizer": "characters", "steps": 10}
NUMBERS = ("runs", "board", "training")  # panels that have something to show without the sentences
PLAIN = ("course", "labs")


@pytest.fixture(scope="module")
def own(site) -> Iterator[Run]:
    """Ben's run."""
    lines = "\n".join(f"{source}\t{target}" for source, target, _ in SENTENCES.pairs)
    run = done(site.train(BEN, {**KNOBS, "own": uploading.read(None, lines, "", "", "en", uploading.ticket_of(BEN))["own"]}))
    assert run.status == "done", run.message
    yield run
    site.runs.delete(run.id, BEN)


@pytest.fixture
def member(site) -> Iterator[dict[str, str]]:
    """A room that Anna is in as well as Ben: its code, as a panel is asked with it."""
    code = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    for token in (ANNA, BEN):
        do(site, token, "join", code=code, nickname="")
    yield {"room": code}
    do(site, TEACHER, "end", code=code)


def get(site, path: str, token: str, **asked: str) -> str:
    """What a route says: bytes as text, whatever they are."""
    answer = site.http.get(f"{PREFIX}/{path}", params=asked, headers={"X-Playground-Token": token})
    return answer.content.decode("utf-8", "replace")


def everything(site, run: Run, token: str, **more: str) -> dict[str, str]:
    """All that is told about a run, by where."""
    own, asked = run.experiment.data.own, {"run": run.id, **more}
    found = {f"panel {name}": get(site, f"panel/{name}", token, **asked) for name in PANELS}
    sentence = {"text": "k", "runs": f"{run.id},reverse", "compare": run.id, "pin": run.id, "mapped": run.id}
    beside = {**more, "run": "reverse", **sentence}  # as one of several runs
    found |= {f"panel {name} of another run": get(site, f"panel/{name}", token, **beside) for name in PANELS}
    found |= {"card": get(site, f"run/{run.id}", token), "boot": get(site, "boot", token, **asked), "runs": get(site, "runs", token)}
    found |= {f"export {kind}": get(site, "export", token, own=own, kind=kind) for kind in ("tsv", "json")}
    found |= {name: get(site, name, token, own=own, **asked) for name in ("reading", "preview", "code", "attention", "table", "history")}
    return found | {"zip": home(site, run, token), "zip with sentences": home(site, run, token, sentences="on")}


def home(site, run: Run, token: str, **asked: str) -> str:
    """Every file of the zip."""
    answer = site.http.get(f"{PREFIX}/takeaway/{run.id}", params=asked, headers={"X-Playground-Token": token})
    if answer.headers["content-type"] != "application/zip":
        return answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        return "".join(found.read(name).decode("utf-8", "replace") for name in found.namelist())


def told(found: dict[str, str]) -> list[str]:
    """Where a sentence is told, whole or cut into its characters."""
    texts = {place: text + "".join(re.findall(r'"text":"(.)"', text)) for place, text in found.items()}
    return [place for place, text in texts.items() if any(word in text for word in CANARIES)]


def test_the_owner_sees_them_in_every_place_where_they_are(site, own):
    places = {"card", "export tsv", "reading", "preview", "panel data", "panel sentence", "panel training", "code", "zip with sentences"}
    assert places <= set(told(everything(site, own, BEN)))


@pytest.mark.parametrize("token", [STRANGER, ""])
def test_a_stranger_sees_none(site, own, token):
    assert told(everything(site, own, token)) == []


def test_a_member_of_the_same_room_sees_none(site, own, member):
    assert told(everything(site, own, ANNA, **member)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_them_there_are_settings_and_curves(site, own, language):
    why = say(language, "runs.sentences_private")
    for name in PANELS:
        answer = site.panel(name, run=own.id, lang=language)
        if name in (*NUMBERS, *PLAIN):
            assert "error" not in answer, name
        elif "error" in answer:
            assert answer["error"] == why, name
    blocks = {block["id"] for block in site.panel("training", run=own.id)["blocks"]}
    assert blocks >= {"private", "curves"}
    assert site.get(f"run/{own.id}").json()["settings"]["own"] == ""


def test_they_can_not_be_taken_by_a_run_of_somebody_else_s(site, own):
    for act in (
        lambda: site.act(STRANGER, "copy", own.id),
        lambda: site.act(STRANGER, "fork", own.id),
        lambda: site.act(STRANGER, "repeat", own.id),
    ):
        with pytest.raises(Refusal) as refused:
            act()
        assert refused.value.key == "runs.sentences_private"
    with pytest.raises(Refusal) as refused:
        site.act(STRANGER, "share_sentences", own.id, shared=True)
    assert refused.value.key == "runs.not_yours"


@pytest.mark.parametrize("run", [True, False], ids=["of a run", "of no run yet"])
def test_whoever_knows_the_id_of_an_upload_knows_nothing_more(site, own, run):
    """Not even whether there is such a one."""
    id = own.experiment.data.own if run else uploading.keep(SENTENCES, uploading.ticket_of(BEN))
    for token in (STRANGER, ""):
        for path in ("export", "reading", "preview"):
            mine, none = (
                site.http.get(f"{PREFIX}/{path}", params={"own": one, "kind": "tsv"}, headers={"X-Playground-Token": token})
                for one in (id, "nothing")
            )
            assert (mine.status_code, mine.content) == (none.status_code, none.content), path
            assert mine.json()["key"] == "page.no_upload"
    with pytest.raises(Refusal) as refused:
        site.act(STRANGER, "train", knobs={**KNOBS, "own": id})
    assert refused.value.key == "page.no_upload"
    uploading.forget(id, uploading.ticket_of(STRANGER))
    assert uploading.found(site.runs, id, uploading.ticket_of(STRANGER)) is None
    assert "zeisig" in get(site, "export", BEN, own=id, kind="tsv")


def test_shared_with_the_link_everybody_sees_them_until_they_are_not(site, own):
    site.act(BEN, "share_sentences", own.id, shared=True)
    assert {"card", "export tsv", "panel data", "panel sentence"} <= set(told(everything(site, own, STRANGER)))
    copy = site.runs.get(site.act(STRANGER, "copy", own.id)["run"])
    assert not copy.sentences_shared
    site.runs.delete(copy.id, STRANGER)
    site.act(BEN, "share_sentences", own.id, shared=False)
    assert told(everything(site, own, STRANGER)) == []


def test_what_the_teacher_deals_is_shared_with_the_class(site, member):
    """Each run of it is opened by its link, as the board does; and only who has the sentences can deal them."""
    own = uploading.keep(SENTENCES, uploading.ticket_of(TEACHER))
    arms = [{"learning_rate": rate} for rate in (0.01, 0.02)]
    asked = {"code": member["room"], "knobs": {**KNOBS, "own": own}, "arms": arms, "order": "together"}
    name = do(site, TEACHER, "deal", **asked)["activity"]
    run = site.runs.get(do(site, ANNA, "train", code=member["room"], activity=name)["run"])
    assert run.sentences_shared
    assert run.pairs == SENTENCES
    site.runs.delete(done(run).id, ANNA)


def test_nobody_deals_what_is_somebody_else_s(site, own, member):
    asked = {"knobs": {**KNOBS, "own": own.experiment.data.own}, "arms": [{"learning_rate": rate} for rate in (0.01, 0.02)]}
    assert do(site, TEACHER, "deal", code=member["room"], order="together", **asked)["key"] == "page.no_upload"


def test_a_program_is_told_no_right_answer(site, own):
    found = call(site, "translate", run=own.id, text="kanarie 1 sings")
    assert (found["references"], found["right"]) == (None, None)
    assert "own" not in call(site, "status", run=own.id)["settings"]
