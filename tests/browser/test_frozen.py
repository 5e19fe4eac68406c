"""A frozen page from a plain file server, in a folder of it: no server of ours, no complaint of the browser."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.cli import main
from playground.features.registry import TABS
from playground.words import say
from tests.browser.conftest import Visitors, pages, ready
from tests.browser.server import files
from tests.browser.steps import address, figure, has_address, is_not_wide, tab, type_sentence

pytestmark = pytest.mark.night

SEEN = [name for name in TABS if name != "board"]  # that one is there in a room only
RUN = "sort"  # the smallest model that ships
LIVE = "https://playground.example/there"
LONG_WORK = {  # what takes a server long: where it stands
    "?tab=evaluation": "#pg-figure-reach .main-svg", "?tab=interventions&off=c1.1": '[data-block="row importance"]',
    "?tab=translate&method=beam": "#pg-figure-tree .main-svg", "?tab=labs&lab=masks&guess=all&sure=75": '[data-block="text verdict"]',
    "?tab=map&stage=encoder.0.self_attention.weights": "#pg-figure-stage .main-svg",
}  # fmt: skip
# Presses every button of a panel that is in sight, one after the other, and says which of them changed nothing on the page at all.
PRESS = """async (panel) => {
  const dead = [], keep = "summary, .pg-save *, [aria-pressed=true], [aria-expanded], [disabled]";
  const seen = () => location.search + document.body.innerText.length + document.body.innerText + panel.innerHTML.length;
  const soon = () => new Promise((go) => setTimeout(go, 40));
  const settled = async (last = "", same = 0) => {
    for (; same < 3; last = seen(), await soon()) same = seen() === last && panel.ariaBusy !== "true" ? same + 1 : 0;
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("web") / "deep" / "frozen"
    assert main(["freeze", RUN, "--sentences", "2", "--live", LIVE, "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with files(folder.parents[1]) as url:
        yield f"{url}deep/frozen/"


@pytest.fixture
def open_frozen(visitors: Visitors, site: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    def meet(page: Page) -> None:
        ready(page)
        page.locator("body").evaluate("body => body.dataset.knobs = 'ready'")  # the knobs, for which other stories wait, aren't here

    with pages(visitors, site, request) as open:
        yield partial(open, meet=meet)


def test_heads_steps_and_sentences_change_the_picture(open_frozen, folder):
    """Also what takes a server long is there, opened from the disk, and a cell of the first sentence can be pinned."""
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
    page.evaluate("document.activeElement.blur()")  # else the arrow is the list's
    page.keyboard.press("ArrowDown")
    expect(page.locator('[data-block="text frozen"]')).to_contain_text(say("en", "page.frozen_pin"))
    for there, place in LONG_WORK.items():
        page = open_frozen(there, base_url=(folder / "index.html").as_uri())
        expect(page.locator(place).first).to_be_visible()
        expect(page.locator('[data-block="text frozen"]')).to_have_count(0)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_needs_a_server_says_so_in_one_sentence(open_frozen, lang):
    page = open_frozen(f"?lang={lang}&tab=attention&run=elsewhere&__theme=dark", viewport={"width": 390, "height": 844})
    assert figure(page, "attention").evaluate("plot => plot.data[0].colorscale[0][1]") == "#072038"  # of dark pages
    is_not_wide(page)
    assert address(page)["run"] == RUN
    type_sentence(page, "unheardof")
    expect(page.locator("#pg-result .pg-error")).to_contain_text(say(lang, "page.frozen_sentence"))
    page.locator("#pg-sentence").fill("")
    has_address(page, text=None)
    page.get_by_role("button", name=say(lang, "heads.view_rollout"), exact=True).click()
    has_address(page, view="rollout")
    expect(page.locator('[data-block="text frozen"]')).to_have_count(0)
    page.locator("#pg-replay-back").click()
    note = page.locator('[data-block="text frozen"]')
    expect(note).to_contain_text(say(lang, "page.frozen_needs_server"))
    there = note.get_by_role("link").get_attribute("href")
    assert there.startswith(f"{LIVE}?")
    assert "view=rollout" in there


@pytest.mark.parametrize("name", SEEN)
def test_every_tab_shows_something_and_no_button_is_dead(open_frozen, name):
    panel = tab(open_frozen(f"?tab={name}"), name)
    expect(panel.locator(".pg-block").first).to_be_visible()
    assert panel.evaluate(PRESS) == []
    expect(panel.locator(".pg-error")).to_have_count(0)
