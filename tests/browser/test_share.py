"""Somebody comes back, and somebody else opens the link they were sent."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.server import Server
from tests.browser.steps import (
    ONE_SENTENCE,
    about_the_run,
    address,
    drawn,
    drawn_from,
    eventually,
    has_address,
    has_status,
    link,
    new_run,
    number,
    replay_of,
    source,
    tab,
    train,
    type_sentence,
    where,
    words,
)


def view(page: Page) -> dict[str, object]:
    """What the page shows: the same for the same link, whoever opens it."""
    panel = page.locator("#pg-panel-attention")
    return {
        "sentence": page.locator("#pg-sentence").input_value(),
        "step": panel.get_attribute("data-step"),
        "title": panel.locator("[data-block='figure attention'] h3").inner_text(),
        "caption": panel.locator("[data-block='figure attention'] .pg-caption").inner_text(),
        "cell": panel.locator(".pg-cell").inner_text(),
        "weights": drawn_from(page, "attention")["z"],
        "output": page.locator("#pg-result .pg-tokens.out").inner_text(),
        "d_model": page.locator("#knob-d_model input[type=number]").input_value(),
        "task": page.locator("#knob-task input").input_value(),
    }


def look_closely(page: Page) -> None:
    """Winds back, changes the sentence and pins a cell of another head: a view that is not the first one."""
    tab(page, "attention")
    replay = replay_of(page, frames=4)
    replay.fill(str(number(replay, "max") // 2))
    type_sentence(page, "ein bier")
    page.locator(".pg-thumb").last.click()
    eventually(page, lambda: address(page), lambda now: "head" in now and "step" in now)
    drawn(page.locator("#pg-panel-attention"))  # what is drawn anew keeps its focus, and arrows would stay in its group
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    has_address(page, q="0")
    settled(page)


def settled(page: Page) -> None:
    """Until the open panel shows what the address says."""
    query = address(page)
    panel = page.locator("#pg-panel-attention")
    expect(panel).to_have_attribute("data-run", query["run"])
    expect(panel.locator("[data-block='figure attention'] h3")).to_have_text(
        words("page.head_title", part=words("page.part_cross"), layer=query["layer"], head=query["head"])
    )
    expect(panel.locator("#pg-figure-attention .xtick text")).to_have_text(["ein", "bier", "<eos>"])
    expect(panel.locator(".pg-cell")).to_be_visible()
    expect(source(page)).to_have_text(["ein", "bier"])
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    drawn(panel)


@pytest.mark.night
def test_reload_and_restart(visit, server: Server):
    """After a reload, and after the server was started anew, the page shows the same run in the same view."""
    page = visit(link(ONE_SENTENCE))
    run = train(page)
    has_status(page, "done")
    look_closely(page)
    before, link_to_it = view(page), where(page)
    assert before["step"] not in ("", "60")

    page.reload()
    ready(page)
    settled(page)
    eventually(page, lambda: view(page), lambda now: now == before)
    assert where(page) == link_to_it

    page.goto("about:blank")
    server.stop()
    server.start()
    page.goto(link_to_it)
    ready(page)
    settled(page)
    eventually(page, lambda: view(page), lambda now: now == before)
    assert where(page) == link_to_it
    has_status(page, "done")
    expect(page.locator("#pg-run optgroup[label=Yours] option").first).to_have_attribute("value", run)


@pytest.mark.night
def test_shared_link(visit):
    """The link shows somebody else the same view, lets them change nothing, and gives them a run of their own on one click."""
    owner = visit(link(ONE_SENTENCE))
    run = train(owner)
    has_status(owner, "done")
    look_closely(owner)
    owner.locator("#pg-share").click()
    shared = owner.locator("#pg-link").input_value()
    assert shared == where(owner)
    expect(owner.locator("#pg-qr")).to_be_visible()
    assert owner.locator("#pg-qr").evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 100
    owner.locator("#pg-dialog").get_by_label("Close").click()
    expect(owner.locator("#pg-dialog")).to_have_count(0)

    guest = visit(shared)
    settled(guest)
    mine = view(owner)
    eventually(guest, lambda: view(guest), lambda now: now == mine)
    has_status(guest, "done")
    expect(guest.locator("#pg-run-note")).to_contain_text(words("page.note_readonly"))
    for name in ("pause", "step", "stop"):
        expect(guest.locator(f"#pg-{name}")).to_be_disabled()
    for name in ("rename", "delete"):
        expect(guest.locator(f"#pg-{name}")).to_have_count(0)
    about_the_run(owner)
    expect(owner.locator("#pg-rename")).to_be_visible()

    there = address(guest)
    about_the_run(guest)
    expect(guest.locator("#pg-copy")).to_be_visible()  # beside the run, where a guest looks
    expect(guest.locator("#pg-mine")).to_be_visible()
    assert guest.locator("#pg-frame").evaluate("frame => frame.offsetHeight") == 120
    guest.locator("#pg-copy").click()
    copy = new_run(guest, run)
    settled(guest)
    assert address(guest) == there | {"run": copy}  # exactly where they were
    eventually(guest, lambda: view(guest), lambda now: now == mine)
    has_status(guest, "done")
    expect(guest.locator("#pg-mine")).to_have_count(0)
    expect(guest.locator("#pg-run-note")).to_be_hidden()
    yours = guest.locator("#pg-run optgroup[label=Yours] option")
    eventually(guest, lambda: yours.evaluate_all("all => all.map((one) => one.value)"), lambda runs: runs == [copy])
    has_address(guest, task="beer")


@pytest.mark.night
def test_share_says_the_sentence_and_that_nobody_else_can_follow(visit):
    """Also when nobody typed it; and the address of this very machine is no address to give away."""
    page = visit()
    sentence = page.locator("#pg-sentence").input_value()
    has_address(page, text=None)
    page.locator("#pg-share").click()
    expect(page.locator("#pg-dialog [role=alert]")).to_have_text(words("page.share_only_here", again=words("page.share")))
    guest = visit(page.locator("#pg-link").input_value())
    has_address(guest, text=sentence)
    expect(guest.locator("#pg-sentence")).to_have_value(sentence)


@pytest.mark.night
def test_bad_link(visit):
    """A link with bad values opens the page and says in one sentence what was ignored; the rest of it holds."""
    good = {"n_heads": 2, "text": "<script>alert(1)</script>{{x}}"}
    bad = {
        "d_model": 63,
        "steps": "NaN",
        "task": "<b>nonsense</b>",
        "run": "gone",
        "tab": "nowhere",
        "step": -3,
        "layer": "x",
        "part": "soul",
        "top_p": "abc",
        "view": "x",
        "off": "all",
    }
    page = visit(link(good | bad))
    notices = page.locator(".pg-notice")
    expect(notices).to_have_count(1)
    for name, value in bad.items():
        expect(notices).to_contain_text(words("runs.unknown") if name == "run" else f"“{name}” can’t be “{value}”")
    expect(source(page)).to_have_text([good["text"]])  # one word, which the first run has not seen
    expect(page.locator("#pg-sentence")).to_have_value(good["text"])
    expect(page.locator("#pg-tab-training-button")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#pg-tab-training-button")).to_be_visible()  # with the places, and with the knobs of this one
    expect(page.locator("#pg-place-train-button")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-place", "train")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    expect(page.locator("#pg-train")).to_be_visible()
    has_address(page, **dict.fromkeys(bad) | {"n_heads": "2", "text": good["text"], "run": "german_english"})
