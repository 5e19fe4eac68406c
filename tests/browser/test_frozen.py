"""A frozen page from a plain file server, in a folder of it: no server of ours, no complaint of the browser."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.cli import main
from playground.ui.panels import TABS
from playground.words import say
from tests.browser.conftest import Trouble, ready
from tests.browser.steps import address, figure, has_address, tab, type_sentence
from tests.browser.visitors import Visitors

pytestmark = pytest.mark.night

SEEN = [name for name in TABS if name != "board"]  # that one is there in a room only
RUN = "sort"  # the smallest model that ships
LIVE = "https://playground.example/there"
# Presses every button of a panel that is in sight, one after the other, and says which of them changed nothing on the page at all.
PRESS = """async (panel) => {
  const dead = [], keep = "summary, .pg-save *, [aria-pressed=true], [aria-expanded], [disabled]";
  const seen = () => location.search + document.body.innerText.length + document.body.innerText + panel.innerHTML.length;
  const soon = () => new Promise((go) => setTimeout(go, 40));
  const settled = async () => {
    for (let last = "", same = 0; same < 3; await soon()) {
      same = seen() === last && panel.ariaBusy !== "true" ? same + 1 : 0;
      last = seen();
    }
  };
  const all = [...panel.querySelectorAll("button")];
  const names = all.filter((button) => button.offsetParent && !button.matches(keep)).map((button) => button.innerText);
  for (const name of new Set(names.slice(0, 40))) {
    const button = [...panel.querySelectorAll("button")].find((one) => one.offsetParent && !one.matches(keep) && one.innerText === name);
    if (!button) continue;
    document.querySelectorAll(".pg-notice button").forEach((close) => close.click());
    const before = seen();
    button.click();
    for (let waited = 0; seen() === before && waited < 15; waited++) await soon();
    if (seen() === before) dead.push(name);
    await settled();
  }
  return dead;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Site:
    """What `Trouble` has to know of a server."""

    def __init__(self, port: int) -> None:
        self.port, self.url = port, f"http://127.0.0.1:{port}/deep/frozen/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root: Path = tmp_path_factory.mktemp("web")
    assert main(["freeze", RUN, "--sentences", "2", "--live", LIVE, "-o", str(root / "deep" / "frozen")]) == 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=root))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Site(server.server_address[1])
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def open_frozen(visitors: Visitors, site: Site):
    trouble, contexts = Trouble(site), []

    def open(path: str = "", **options: object) -> Page:
        page = visitors.come(site.url, **options)
        contexts.append(page.context)
        trouble.watch(page)
        page.goto(path)
        ready(page)
        page.locator("body").evaluate("body => body.dataset.knobs = 'ready'")  # the knobs, for which other stories wait, aren't here
        return page

    yield open
    for context in contexts:
        visitors.leave(context)
    assert not trouble.seen, "\n".join(trouble.seen)


def test_every_tab_shows_something_and_nothing_complains(open_frozen):
    page = open_frozen()
    for name in SEEN:
        panel = tab(page, name)
        expect(panel.locator(".pg-block").first).to_be_visible()
        expect(panel.locator(".pg-error")).to_have_count(0)


def test_heads_steps_and_sentences_change_the_picture(open_frozen):
    page = open_frozen("?tab=attention")
    drawing = figure(page, "attention")
    title = page.locator('[data-block="figure attention"] > h3')
    page.locator('.pg-thumb[data-layer="0"][data-head="1"]').click()
    expect(title).to_have_text(say("en", "page.head_title", part=say("en", "page.part_cross"), layer=1, head=2))
    newest = drawing.evaluate("plot => JSON.stringify(plot.data[0].z)")
    page.locator("#pg-replay-back").click()
    expect(page.locator('[data-block="figure attention"] > .pg-caption')).to_contain_text(f"Step {address(page)['step']}")
    assert drawing.evaluate("plot => JSON.stringify(plot.data[0].z)") != newest
    other = page.locator("#pg-examples option").nth(2).get_attribute("value")
    page.locator("#pg-examples").select_option(other)
    expect(page.locator("#pg-result .pg-tokens").first).to_have_text(other)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_needs_a_server_says_so_in_one_sentence(open_frozen, lang):
    page = open_frozen(f"?lang={lang}&tab=attention")
    figure(page, "attention")
    type_sentence(page, "unheardof")
    expect(page.locator("#pg-result .pg-error")).to_contain_text(say(lang, "page.frozen_sentence"))
    page.locator("#pg-sentence").fill("")
    has_address(page, text=None)
    page.locator("#pg-fork").click()
    expect(page.locator("#pg-notices .error")).to_contain_text(say(lang, "page.frozen_needs_server"))
    page.get_by_role("button", name=say(lang, "heads.view_rollout"), exact=True).click()
    has_address(page, view="rollout")
    expect(page.locator('[data-block="text frozen"]')).to_have_count(0)
    page.locator("#pg-replay-back").click()
    note = page.locator('[data-block="text frozen"]')
    expect(note).to_contain_text(say(lang, "page.frozen_needs_server"))
    note.get_by_role("link").evaluate("link => link.addEventListener('click', (event) => event.preventDefault())")
    note.get_by_role("link").click()
    there = note.get_by_role("link").get_attribute("href")
    assert there.startswith(f"{LIVE}?")
    assert "view=rollout" in there
    expect(page.locator('[data-block="figure attention"]')).to_be_visible()


def test_on_a_telephone_a_dark_page_and_a_link_to_another_run(open_frozen):
    page = open_frozen("?run=elsewhere&tab=attention&__theme=dark", viewport={"width": 390, "height": 844})
    scale = figure(page, "attention").evaluate("plot => plot.data[0].colorscale[0][1]")
    assert scale == "#072038"  # of dark pages
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert address(page)["run"] == RUN


def test_what_takes_a_server_long_is_there(open_frozen):
    page = open_frozen("?tab=evaluation")
    expect(page.locator("#pg-figure-reach .main-svg").first).to_be_visible()
    page = open_frozen("?tab=interventions&off=c1.1")
    expect(page.locator('[data-block="row importance"]')).to_be_visible()
    page = open_frozen("?tab=translate&method=beam")
    expect(page.locator("#pg-figure-tree .main-svg").first).to_be_visible()
    page = open_frozen("?tab=map&stage=encoder.0.self_attention.weights")
    expect(page.locator("#pg-figure-stage .main-svg").first).to_be_visible()
    for left in page.context.pages:
        expect(left.locator('[data-block="text frozen"]')).to_have_count(0)


def test_a_cell_of_the_first_sentence_can_be_pinned_and_of_another_it_is_told(open_frozen):
    page = open_frozen("?tab=attention")
    figure(page, "attention")
    how = page.locator('[data-block="text how-0"]')
    before = how.text_content()
    page.evaluate("history.replaceState(null, '', location.search + '&q=1&k=2')")
    page.reload()
    ready(page)
    expect(how).not_to_have_text(before)
    page.locator("#pg-examples").select_option(index=2)
    page.locator('#pg-result [data-token="tgt-1"]').first.wait_for()
    page.keyboard.press("ArrowDown")
    expect(page.locator('[data-block="text frozen"]')).to_contain_text(say("en", "page.frozen_pin"))


def test_a_lesson_at_the_side_and_the_answer_of_a_lab(open_frozen):
    page = open_frozen("?tab=course&lesson=attention")
    expect(page.locator(".pg-steps li").first).to_be_visible()
    tab(page, "attention")
    expect(page.locator("#pg-lesson-bar li").first).to_be_visible()
    page = open_frozen("?tab=labs&lab=masks&guess=all&sure=75")
    expect(page.locator('[data-block="text verdict"]').first).to_be_visible()
    expect(page.locator('[data-block="text frozen"]')).to_have_count(0)
    page = open_frozen("?tab=labs&lab=warmup&guess=none")
    expect(page.locator('[data-block="text frozen"]')).to_be_visible()


@pytest.mark.parametrize("name", SEEN)
def test_no_button_is_dead(open_frozen, name):
    page = open_frozen(f"?tab={name}")
    assert tab(page, name).evaluate(PRESS) == []
