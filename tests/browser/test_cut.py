"""At every usual width, in both languages: no text is cut off, nothing in the frame lies over something else, and the verdict is seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from playground.ui.snippets import LANGUAGES
from tests.browser.cut import faults
from tests.browser.steps import drawn, eventually, has_status, link, press_tab, words

TIGHT = [(910, 700), (390, 844)]
OTHERS = [(1440, 900), (1366, 768), (1024, 768), (820, 1180)]  # the frame, which all tabs share, at all of them; a tab at two
TABS = {
    "en": ["training", "map", "attention", "translate", "evaluation", "runs", "course", "diagnostics"],
    "zh": ["training", "map", "course"],
}
PHONE = {"width": 390, "height": 844}


@pytest.mark.night
@pytest.mark.parametrize("language", TABS)
def test_nothing_is_cut_off(visit, language):
    page = visit(link(lang=language))
    for at, tab in enumerate(TABS[language]):
        press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        for size in [*OTHERS[at % 2 :: 2], *TIGHT]:
            page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
            page.evaluate("() => new Promise(requestAnimationFrame)")
            eventually(page, lambda at=(tab, *size): (at, faults(page)), lambda found: not found[1])
        page.set_viewport_size({"width": 1280, "height": 900})


def in_sight(page: Page, selector: str) -> bool:
    inside = "(one) => { const { left, right } = one.getBoundingClientRect(); return left >= 0 && right <= innerWidth; }"
    return page.locator(selector).evaluate(inside)


@pytest.mark.night
def test_the_verdict_is_in_sight_and_says_what_is_wrong(visit):
    page = visit(link(run="german_english", step="10"))
    verdict = page.locator("#pg-result .pg-verdict.wrong")
    expect(verdict).to_be_visible()
    wrong = page.locator("#pg-result .out .pg-chip.wrong").first.inner_text()
    expect(verdict).to_contain_text(f"“{wrong}”")
    for width in (1440, 1366, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.evaluate("() => new Promise(requestAnimationFrame)")
        for scrolled in ("0", "line.scrollWidth"):
            page.locator("#pg-result").evaluate(f"(line) => {{ line.scrollLeft = {scrolled}; }}")
            assert in_sight(page, "#pg-result .pg-verdict"), (width, scrolled)


@pytest.mark.night
def test_a_telephone_trains_at_once_and_stops(visit):
    page = visit(link(steps=2000), viewport=PHONE)
    button = page.locator("#pg-train-now")
    expect(button).to_have_text(words("page.train_now"))
    button.click()
    expect(button).to_have_text(words("page.stop_now"))
    button.click()
    has_status(page, "stopped")
    expect(button).to_have_text(words("page.train_now"))
    page.evaluate(SET, ["interrupted", {"step": 5}])  # by a server that can't let it go on yet
    expect(button).to_have_text(words("page.resume_now"))
    button.click()
    expect(button).to_have_text(words("page.stop_now"))


@pytest.mark.night
def test_the_help_of_a_knob_covers_no_other(visit):
    page = visit(viewport={"width": 1366, "height": 768})
    page.locator("#knob-d_model [data-testid=block-info]").hover()
    shown = page.locator("#knob-d_model .info-text")
    expect(shown).to_be_visible()
    column, box = page.locator("#pg-knobs").bounding_box(), shown.bounding_box()
    assert box["x"] >= column["x"] + column["width"]
    assert box["y"] + box["height"] <= 768


# Where the parts of the page begin, whatever the sentence: with what stands first in them.
PLACES = """() => [...document.querySelectorAll("#pg-inner-tabs, #pg-replay-bar, #pg-knobs > *, #pg-panel-training > *")]
  .filter((one) => one.offsetParent && (one.closest("#pg-frame") || !one.previousElementSibling))
  .map((one) => [one.id, one.getBoundingClientRect()]).map(([id, { left, top }]) => [id, left, top + scrollY])"""


@pytest.mark.night
@pytest.mark.parametrize(("width", "height"), [(1024, 768), (390, 844)])
def test_unknown_words_push_nothing(visit, width, height):
    page = visit(link(run="german_english"), viewport={"width": width, "height": height})
    drawn(page.locator("#pg-panel-training"))
    before, strip = page.evaluate(PLACES), page.locator("#pg-unknown")
    page.locator("#pg-sentence").fill("die Frau liebt den Konig")
    expect(strip).to_contain_text("Konig")
    drawn(page.locator("#pg-panel-training"))
    assert page.evaluate(PLACES) == before
    assert [one for one in faults(page) if "Konig" in one or "pg-instead" in one] == []
    expect(strip.locator(".pg-instead").first).to_be_in_viewport()
    strip.locator(".pg-instead").first.click()
    expect(strip).to_be_hidden()
    drawn(page.locator("#pg-panel-training"))
    assert page.evaluate(PLACES) == before


# Says of the page's run what a message of the server says; the module is the one that the page has loaded.
SET = """async ([status, values]) => {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const { change, page } = await import(loaded.find((name) => name.endsWith("/store.js")));
  change({ live: { ...page.live, eta: null, place: 0, status, ...values } });
}"""
STATES = {
    "training": {"step": 1500, "steps": 4000, "eta": [25, 40]}, "queued": {"place": 3}, "paused": {"step": 1500, "steps": 4000},
    "done": {"step": 4000, "steps": 4000}, "stopped": {"step": 1500, "steps": 4000}, "failed": {"step": 1500}, "diverged": {"step": 1500},
    "preparing": {}, "interrupted": {"step": 1500},
}  # fmt: skip
MEASURED = ("training", "done", "stopped")  # these say how often the run is right, and that has room
# [height, parts that are cut, room to the places] of the line. What has no room in it stands whole in the next, which is not seen.
LINE = """(line) => {
  const { top, bottom, right, height } = line.getBoundingClientRect(), parts = [...line.children].map((one) => one.getBoundingClientRect());
  const cut = parts.filter((one) => one.right > right + 1 || (one.top < bottom - 2 && one.bottom > bottom + 4));
  return [height, cut.length, document.querySelector("#pg-place-tabs").getBoundingClientRect().left - right, parts[0].top - top];
}"""


@pytest.mark.night
@pytest.mark.parametrize("language", ["en", "zh"])
def test_how_far_a_run_is_takes_one_line(visit, language):
    """Whatever it is at, its line is one, its parts are whole, and it moves nothing."""
    page = visit(link(lang=language))
    status = page.locator("#pg-status")
    for width in (1366, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert page.locator("#pg-head h1").evaluate("(title) => getComputedStyle(title).clipPath") == "none"  # the page's name is seen
        places = []
        for name, values in STATES.items():
            page.evaluate(SET, [name, values])
            assert status.get_attribute("data-status") == name
            height, cut, room, down = status.evaluate(LINE)
            assert (height < 24, cut, room >= 0, down < 4) == (True, 0, True, True), (width, name, height, cut, room, down)
            if name in MEASURED:
                expect(status.locator("span", has_text="%")).to_be_visible()
            places.append(page.locator("#pg-run").bounding_box())
        assert all(place == places[0] for place in places)


@pytest.mark.night
def test_unknown_words_have_ways_out(visit):
    page = visit(link(run="german_english", text="die Frau liebt den Konig"))
    expect(page.locator("#pg-unknown")).to_contain_text("Konig")
    page.locator("#pg-known-words").click()
    expect(page.locator("#pg-panel-embeddings")).to_be_visible()
    page.locator("#pg-unknown .pg-instead", has_text="König").first.click()
    expect(page.locator("#pg-sentence")).to_have_value("die Frau liebt den König")
    expect(page.locator("#pg-unknown")).to_be_hidden()


# Tokens that are seen in part: those of the first line that end beyond their box.
IN_PART = """(line) => [...line.children].map((one) => one.getBoundingClientRect()).filter(({ top, right }) =>
  top < line.getBoundingClientRect().bottom && right > line.getBoundingClientRect().right + 1).length"""


@pytest.mark.night
def test_where_a_sentence_has_no_room_its_last_tokens_are_left_out_whole(visit):
    page = visit(link(run="german_english"), viewport={"width": 1440, "height": 900})
    result = page.locator("#pg-result")
    expect(result).to_have_attribute("data-cut", "")
    assert result.locator(".pg-tokens").first.evaluate(IN_PART) == 0
    page.locator("#pg-sentence").fill("die Frau findet die Ärztin")
    expect(result).not_to_have_attribute("data-cut", "")


BEYOND = """() => [...document.querySelectorAll("#pg-dialog, #pg-dialog *")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth).map((one) => one.tagName)"""


@pytest.mark.night
@pytest.mark.parametrize(("width", "height"), [(1440, 500), (390, 844)])
def test_lines_of_code_stay_in_their_box_and_copy_in_sight(visit, width, height):
    page = visit(link(api="1", text="a b c d " * 12), viewport={"width": width, "height": height})
    sections = page.locator("#pg-dialog section")
    expect(sections).to_have_count(len(LANGUAGES))
    assert page.evaluate(BEYOND) == []
    for at in range(len(LANGUAGES)):
        lines = sections.nth(at).locator("pre")
        lines.evaluate("one => one.scrollIntoView({ block: 'end' })")
        expect(sections.nth(at).locator("button")).to_be_in_viewport(ratio=1)
        expect(page.locator("#pg-dialog header button")).to_be_in_viewport(ratio=1)
