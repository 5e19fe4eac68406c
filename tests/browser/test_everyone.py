"""The page for everyone: in Chinese, in the dark, on a telephone, without a mouse, over a slow line."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from playground.words import LANGUAGES, entries, glossary, say
from tests.browser.conftest import pages
from tests.browser.server import Server

from tests.browser.steps import (  # isort: skip
    ONE_SENTENCE, PHONE, SMALL, address, drawn, eventually, has_address, has_status, is_not_wide, link, number, ready, replay_of, tab,
    train, watch_values, words,
)  # fmt: skip

STOPS = 35  # to the first picture without a shortcut: one for each group, and one for each knob in sight
HAN = re.compile("[\u4e00-\u9fff]")
BILINGUAL = ("#pg-status", "#pg-run-note", "#pg-replay-now", "#knob-d_model", "[data-block='figure learn-cross']")


@pytest.mark.night
def test_chinese_and_dark(visit):
    """A Chinese browser is met in Chinese, controls and captions and errors, and a dark one in the dark; one click says it in English."""
    page = visit(locale="zh-CN", color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    for place in (*BILINGUAL, "#pg-train", "#pg-to-tab-training"):
        expect(page.locator(place)).to_have_text(HAN)
    expect(page.locator("[data-block='figure learn-cross'] .xtitle")).to_have_text(HAN)
    expect(page.locator("#knob-steps input")).to_have_value("85")
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    page.locator("#pg-sentence").fill(" ")
    expect(page.locator("#pg-result .pg-error")).to_have_text(HAN)
    page.locator("#pg-sentence").fill("")
    expect(page.locator("#pg-result .pg-verdict")).to_have_text(HAN)
    page.locator("#pg-language").click()
    expect(page.locator("#pg-train")).to_have_text("Train")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    for place in BILINGUAL:
        expect(page.locator(place)).not_to_have_text(HAN)
    page.locator("#pg-language").click()
    expect(page.locator("#pg-train")).to_have_text(HAN)
    has_address(page, lang="zh")


def test_telephone(visit):
    """Nothing sticks out sideways, what is asked for is in sight, the settings fold away, and a model is trained, from the bar too."""
    page = visit(link(ONE_SENTENCE, tab="course", lesson="attention"), **PHONE)
    page.locator("[data-block='button unknown'] button").click()
    expect(page.locator("[data-block='text verdict']")).to_be_in_viewport()
    tab(page, "attention")
    is_not_wide(page)
    assert page.locator("#pg-panel-attention .pg-layers").evaluate("heads => heads.scrollWidth <= heads.clientWidth")
    assert page.locator("#pg-replay").bounding_box()["width"] > 100
    page.locator("#pg-help").click()
    expect(page.locator(".pg-keys")).to_be_hidden()
    page.locator("#pg-dialog").get_by_role("button", name=words("page.room")).click()
    page.keyboard.press("Escape")
    tab(page, "training")
    expect(page.locator("#pg-figure-learn-cross .xtick text").first).to_be_in_viewport()
    opener, knobs = page.locator("#pg-drawer"), page.locator("#pg-train")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#pg-drawer-close")).to_be_focused()
    page.locator("#preset input").click()
    expect(page.locator("#preset [role=listbox]")).to_be_visible()
    page.keyboard.press("Escape")  # a menu in the settings closes before they do
    expect(page.locator("#preset [role=listbox]")).to_be_hidden()
    expect(knobs).to_be_visible()
    page.keyboard.press("Escape")
    expect(knobs).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    train(page)
    has_status(page, "done")
    expect(knobs).not_to_be_in_viewport()
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()
    is_not_wide(page)
    opener.click()
    page.locator("#preset input").click()
    page.get_by_role("option", name=words("knobs.preset.fast"), exact=True).click()  # which changes many controls
    expect(page.locator("#knob-steps input")).to_have_value("90")


def test_keyboard(visit):
    """Shortcuts lead to the sentence and to the picture; space, arrows and numbers; typing stays typing; letters can be switched off."""
    page = visit(link(tab="attention"))
    panel = page.locator("#pg-panel-attention")
    drawn(panel)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name=words("page.skip_sentence"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#pg-sentence")).to_be_focused()
    page.locator("#pg-skip a").nth(1).press("Enter")
    plot = panel.locator(".pg-plot").first
    expect(plot).to_be_focused()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    has_address(page, q="1", k="2")
    page.evaluate("document.activeElement.blur()")
    replay, played = replay_of(page, frames=4), watch_values(page, "#pg-replay-play", "aria-label")
    replay.fill(str(number(replay, "max") - 3))
    expect(panel).to_have_attribute("data-step", re.compile("."))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    eventually(page, played, lambda labels: labels == [words("page.replay_pause"), words("page.replay_play")])
    has_address(page, step=None)
    page.keyboard.press("ArrowLeft")
    expect(replay).to_have_value(str(number(replay, "max") - 1))
    page.keyboard.press("ArrowRight")
    has_address(page, step=None)
    page.keyboard.press("3")
    has_address(page, head="3", layer="1")
    expect(page.locator(".pg-thumb[aria-pressed=true]")).to_have_attribute("aria-label", re.compile("layer 1, head 3$"))
    page.keyboard.press("ArrowDown")
    has_address(page, q="2")
    page.locator("#pg-figure [data-part='decoder.self_attention']").press("Enter")
    has_address(page, part="decoder")
    page.locator("[data-block='choice view'] button").nth(1).focus()
    page.keyboard.press("ArrowLeft")  # a group is one stop, with arrows inside, and keeps the focus when it is drawn anew
    page.keyboard.press("Enter")
    eventually(page, lambda: page.evaluate("document.activeElement.dataset.value"), lambda value: value == "matrix")
    page.locator("#pg-sentence").fill("")
    page.locator("#pg-sentence").focus()
    page.keyboard.type("1 ?")
    has_address(page, text="1 ?", part="decoder")
    expect(page.locator("#pg-dialog")).to_have_count(0)
    drawn(panel)
    page.evaluate("document.activeElement.blur()")
    head = address(page).get("head")
    page.keyboard.press("?")
    page.locator("#pg-single-keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#pg-dialog")).to_have_count(0)
    page.reload()
    ready(page)
    drawn(panel)
    for key in ("2", "p", "?", "ArrowDown"):  # arrows go on
        page.keyboard.press(key)
    has_address(page, head=head, present=None, q="0")
    expect(page.locator("#pg-dialog")).to_have_count(0)


@pytest.mark.night
def test_tab_goes_through_the_page_in_the_order_in_which_it_is_seen(visit):
    """The title row, the sentence, the tabs of the place and the replay, then what stands below; a menu that is left is closed."""
    page = visit(link(tab="training"))
    drawn(page.locator("#pg-panel-training"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    around = "#pg-skip, .pg-run, #pg-place-tabs, #pg-tools, .pg-stage, #pg-inner-tabs, #pg-replay-bar, #pg-knobs, .pg-panel"
    parts = []
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        part = page.evaluate(f"(part => part?.id || part?.classList[0])(document.activeElement.closest('{around}'))")
        parts += [part] if part not in parts else []
    frame = ["pg-skip", "pg-run", "pg-place-tabs", "pg-tools", "pg-stage", "pg-inner-tabs", "pg-replay-bar"]
    assert parts == [*frame, "pg-knobs", "pg-panel-training"][: len(parts)]
    menu, lists = page.get_by_role("combobox", name=say("en", "knobs.task.label")), page.get_by_role("listbox")
    menu.focus()
    page.keyboard.press("ArrowDown")
    expect(lists).to_have_count(1)
    page.keyboard.press("Tab")
    expect(lists).to_have_count(0)


@pytest.mark.night
def test_a_slow_line_loses_nothing(visit):
    """The page's own script comes long after Gradio: until then only the shortcuts can be used, and the link's settings are not lost."""
    held: list[Route] = []

    def meet(page: Page) -> None:
        expect(page.locator("#pg-skip a").first).to_be_attached()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name=words("page.skip_sentence"))).to_be_focused()
        page.keyboard.press("Enter")  # which leads nowhere else
        expect(page.locator("#knob-d_model input[type=number]")).to_have_value("16")
        expect(page.locator("#pg-train")).to_be_hidden()
        eventually(page, lambda: held, bool)[0].continue_()
        ready(page)
    page = visit(link(SMALL), meet=meet, before=lambda page: page.route("**/page.js", lambda route: held.append(route)))
    tab(page, "masks")
    has_address(page, tab="masks", d_model="16", run="reverse")


@pytest.mark.night
def test_nothing_moves_for_those_who_want_no_motion(visit):
    page = visit(link(), reduced_motion="reduce")
    drawn(page.locator("#pg-panel-training"))
    page.evaluate("""() => {
      window.moving = new Set();
      const look = () => {
        const running = document.getAnimations().filter((one) => one.playState === "running");
        for (const one of running) window.moving.add(one.animationName ?? one.transitionProperty);
        requestAnimationFrame(look);
      };
      look();
    }""")
    for name in ("attention", "translate", "runs", "course", "step", "training"):
        tab(page, name)
        if page.locator("#pg-replay-back").is_visible():
            page.locator("#pg-replay-back").click()
            drawn(page.locator(f"#pg-panel-{name}"))
        assert (name, page.evaluate("[...window.moving]")) == (name, [])


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_explains_itself_to_a_mouse_and_a_keyboard(visit, language):
    page = visit(link({"tab": "labs", "lab": "softmax", "guess": "unknown", "lang": language}))
    drawn(page.locator("#pg-panel-labs"))
    text, tip = page.locator("#pg-panel-labs [data-block='text question']"), page.locator("#pg-tip")
    places = text.locator(".pg-term")
    assert len(set(places.all_text_contents())) == places.count() >= 3  # each term once
    assert text.text_content() == say(language, "lab_softmax.question")
    lower = [form.lower() for form in next(entry["forms"] for entry in glossary(language)["terms"] if entry["id"] == "softmax")]
    term = places.nth(next(at for at, text in enumerate(places.all_text_contents()) if text.lower() in lower))
    term.hover()
    expect(tip).to_contain_text(say(language, "glossary.softmax.text"))
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    term.focus()
    expect(tip).to_be_visible()
    expect(term).to_have_attribute("aria-describedby", "pg-tip")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(term).to_be_focused()
    page = visit(link({"glossary": "all", "lang": language}))
    page.locator("#pg-dialog [type=search]").fill({"en": "暂退法", "zh": "Dropout"}[language])
    assert page.locator(".pg-glossary > :not([hidden])").count() < 5
    expect(page.locator("#pg-term-dropout")).to_be_visible()


LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתאבגד")
OVERLAP = """() => {
  const controls = [...document.querySelectorAll("#pg-frame :is(button:not([role=tab]), select, input), #pg-train")];
  const boxes = controls.filter((each) => each.checkVisibility()).map((each) => [each.id || each.className, each.getBoundingClientRect()]);
  const isOver = (a, b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1;
  return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([, b]) => isOver(a, b)).map(([other]) => `${one} over ${other}`));
}"""


@pytest.mark.night
@pytest.mark.parametrize("size", [{"viewport": {"width": 1280, "height": 800}}, PHONE], ids=["desk", "phone"])
def test_a_page_that_reads_from_the_right_is_mirrored_and_its_pictures_are_not(visitors, tmp_path, monkeypatch, request, size):
    """A language by rule, from a folder elsewhere: English in Hebrew letters, with half of its areas."""
    areas = {}
    for key, text in entries("en").items():
        area, _, name = key.partition(".")
        parts = re.split(r"(\{[^{}]*\}|<[^<>]*>|&\w+;)", text)
        areas.setdefault(area, {})[name] = "".join(part if part[:1] in tuple("{<&") else part.lower().translate(LETTERS) for part in parts)
    areas |= {"language": {"name": "עאברית", "brief": "ר", "html": "he", "direction": "rtl", "browser": "he"}}
    (tmp_path / "rtl").mkdir()
    for area in [*sorted(areas)[::2], "language", "page", "knobs"]:
        (tmp_path / "rtl" / f"{area}.json").write_text(json.dumps(areas[area], ensure_ascii=False), encoding="utf-8")
    monkeypatch.setenv("PLAYGROUND_WORDS", str(tmp_path))
    server = Server(tmp_path)
    server.start()
    try:
        with pages(visitors, server.url, request) as open:
            page = open("?run=reverse&lang=rtl", **size)
            expect(page.locator("html")).to_have_attribute("dir", "rtl")
            expect(page.locator("#pg-translated")).to_have_text(re.compile(r"[\u0590-\u05ff].* %|% [\u0590-\u05ff]"))
            is_not_wide(page)
            middle = page.viewport_size["width"] / 2
            assert page.locator(".pg-run select").bounding_box()["x"] > middle > page.locator("#pg-help").bounding_box()["x"]
            rows = page.locator("#pg-figure-learn-cross .yaxislayer-above")
            eventually(page, lambda: rows.bounding_box()["x"], lambda left: left < middle)  # named at the left, as in any language
            eventually(page, lambda: page.evaluate(OVERLAP), lambda pairs: not pairs)
            page.goto("?run=reverse&lang=rtl&tab=attention&present=1")
            ready(page)
            tokens = page.locator(".pg-result .out .pg-chip")
            read = "chips => chips.map((chip) => chip.getBoundingClientRect().x)"
            eventually(page, lambda: tokens.evaluate_all(read), lambda lefts: lefts and lefts[0] < lefts[-1])  # in the model's order
            caption, title = page.locator(".pg-presented > .pg-caption"), page.locator(".pg-presented > h3")
            eventually(page, lambda: caption.bounding_box()["y"] - title.bounding_box()["y"], lambda below: below > 0)
    finally:
        server.stop()
