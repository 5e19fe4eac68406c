"""The contents of the address: a view that is shared, reloaded, and gone back to; and a link that is wrong."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import PATH, Server, proxy

from tests.browser.steps import (  # isort: skip
    ONE_SENTENCE, about_the_run, address, drawn, drawn_from, eventually, has_address, has_status, link, new_run, number, ready, replay_of,
    source, tab, train, type_sentence, where, words,
)  # fmt: skip


def view(page: Page) -> dict[str, object]:
    """Returns all that the page shows: the same for the same link, in every browser."""
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
def test_a_link_shows_the_same_to_others_and_after_a_reload(visit: Callable[..., Page]):
    """A guest may change nothing, and gets a run of their own on one click."""
    owner = visit(link(ONE_SENTENCE))
    run = train(owner)
    has_status(owner, "done")
    look_closely(owner)
    before, there = view(owner), where(owner)
    assert before["step"] not in ("", "60")
    owner.locator("#pg-share").click()
    expect(owner.locator("#pg-dialog [role=alert]")).to_have_text(words("page.share_only_here", again=words("page.share")))
    assert owner.locator("#pg-link").input_value() == there
    assert owner.locator("#pg-qr").evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 100
    guest = visit(there)
    settled(guest)
    eventually(guest, lambda: view(guest), lambda now: now == before)
    has_status(guest, "done")
    expect(guest.locator("#pg-run-note")).to_contain_text(words("page.note_readonly"))
    for name in ("pause", "step", "stop"):
        expect(guest.locator(f"#pg-{name}")).to_be_disabled()
    about_the_run(guest)
    expect(guest.locator("#pg-mine")).to_be_visible()
    for name in ("rename", "delete"):
        expect(guest.locator(f"#pg-{name}")).to_have_count(0)
    query = address(guest)
    guest.locator("#pg-copy").click()
    copy = new_run(guest, run)
    settled(guest)
    assert address(guest) == query | {"run": copy}  # exactly where they were
    eventually(guest, lambda: view(guest), lambda now: now == before)
    has_status(guest, "done")
    yours = guest.locator("#pg-run optgroup[label=Yours] option")
    eventually(guest, lambda: yours.evaluate_all("all => all.map((one) => one.value)"), lambda runs: runs == [copy])
    owner.reload()
    ready(owner)
    settled(owner)
    eventually(owner, lambda: view(owner), lambda now: now == before)
    assert where(owner) == there
    has_status(owner, "done")
    expect(owner.locator("#pg-run optgroup[label=Yours] option").first).to_have_attribute("value", run)


def test_bad_link(visit: Callable[..., Page]):
    """A link with bad values opens the page and says in one sentence what was ignored; the rest of it holds."""
    good = {"n_heads": 2, "text": "<script>alert(1)</script>{{x}}"}
    bad = {
        "d_model": 63, "steps": "NaN", "task": "<b>nonsense</b>", "run": "gone", "tab": "nowhere", "step": -3, "layer": "x",
        "part": "soul", "top_p": "abc", "view": "x", "off": "all",
    }  # fmt: skip
    page = visit(link(good | bad))
    notices = page.locator(".pg-notice")
    expect(notices).to_have_count(1)
    for name, value in bad.items():
        expect(notices).to_contain_text(words("runs.unknown") if name == "run" else f"“{name}” can’t be “{value}”")
    expect(source(page)).to_have_text([good["text"]])  # one word, which the first run has not seen
    expect(page.locator("#pg-sentence")).to_have_value(good["text"])
    expect(page.locator("#pg-to-tab-training")).to_have_attribute("aria-selected", "true")
    expect(page.locator("body")).to_have_attribute("data-place", "train")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    expect(page.locator("#pg-train")).to_be_visible()
    has_address(page, **dict.fromkeys(bad) | {"n_heads": "2", "text": good["text"], "run": "german_english"})


def is_at(page: Page, name: str, **more: str | None) -> None:
    has_address(page, tab=None if name == "training" else name, **more)
    expect(page.locator(f"#pg-to-tab-{name}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(f"#pg-panel-{name}")).to_have_attribute("aria-busy", "false")


def test_back_goes_back_and_a_sentence_goes_along(visit: Callable[..., Page]):
    """The page is where it was each time, and what was typed in between is no place; another run is asked what it can read."""
    page = visit(link(tab="attention"))
    type_sentence(page, "playground")
    page.locator(".pg-thumb").last.click()
    has_address(page, layer="2", head="4")
    tab(page, "masks")
    page.go_back()
    is_at(page, "attention", text="playground", layer="2", head="4")
    expect(source(page)).to_have_text([*"playground"])
    page.go_forward()
    is_at(page, "masks", text="playground")
    page.go_back()
    is_at(page, "attention")
    run = page.locator("#pg-run")
    run.select_option("sort")
    is_at(page, "attention", run="sort", text="playground")
    page.go_back()
    is_at(page, "attention", run="reverse", text="playground")
    run.select_option("german_english")
    has_address(page, run="german_english", text=None)
    expect(source(page)).not_to_have_text([*"playground"])
    run.select_option("reverse")
    has_address(page, run="reverse", text="playground")
    expect(source(page)).to_have_text([*"playground"])
    page.route("**/run/numbers_de?*", lambda route: route.abort("aborted"), times=1)  # a server that is away for a moment
    run.select_option("numbers_de")
    expect(page.locator(".pg-notice.error")).to_contain_text(words("page.server_away"))
    ready(page)
    has_address(page, run="numbers_de")
    expect(source(page)).not_to_have_count(0)
    page.route("**/panel/masks?*", lambda route: route.abort("aborted"), times=1)
    page.locator("#pg-to-tab-masks").click()
    drawn(page.locator("#pg-panel-masks:has(.pg-figure)"))


@pytest.mark.night
def test_a_key_brings_runs_to_another_browser(visit: Callable[..., Page]):
    here, there = visit(link(ONE_SENTENCE)), visit(link())
    run = train(here)
    for page in (here, there):
        page.locator("#pg-help").click()
        page.locator("#pg-my-key").click()
    key = here.locator("#pg-key").input_value()
    there.locator("#pg-key-other").fill("no key")
    there.locator("#pg-key-use").click()
    expect(there.locator("#pg-key-said")).to_have_text(words("page.not_a_key"))
    there.locator("#pg-key-other").fill(f" {key} ")
    there.locator("#pg-key-use").click()
    expect(there.locator("#pg-dialog")).to_have_count(0)
    there.reload()
    ready(there)
    expect(there.locator(f"#pg-run optgroup option[value='{run}']")).to_have_count(1)


@pytest.mark.night
def test_behind_a_proxy_that_has_it_at_a_path_the_page_is_whole(visit: Callable[..., Page], server: Server):
    """Opened without the slash at the end; nothing is asked for beside the path. A model trains, and the link leads to it."""
    with proxy(server) as url:
        page = visit(link(ONE_SENTENCE), base_url=f"{url.rstrip('/')}{PATH}")
        run = train(page)
        has_status(page, "done")
        page.locator("#pg-share").click()
        there = visit(page.locator("#pg-link").input_value(), base_url=url)
        assert address(there)["run"] == run
        for visitor in (page, there):
            visitor.goto(f"{PATH}/gradio_api/playground/boot")  # which asks for nothing more: the proxy ends
