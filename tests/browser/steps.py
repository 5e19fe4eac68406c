"""Steps that the people in these stories take again and again, and the places where they look."""

import re
import time
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from playground.features.registry import PLACES
from playground.words import say
from tests.browser.conftest import ready
from tests.browser.server import PATIENCE

T = TypeVar("T")

# A model that trains in a moment: what it learns matters only where a story says so.
SMALL = {
    "train_size": 500, "validation_size": 50, "d_model": 16, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 16,
    "steps": 60, "threads": 1,
}  # fmt: skip
# One sentence, learnt by heart in a few steps.
ONE_SENTENCE = SMALL | {"task": "beer", "d_model": 32, "d_ff": 32, "steps": 60, "batch_size": 1, "eval_every": 10}

STEPS = 100_000  # more than a run can take while a story lasts: it is stopped
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def words(key: str, **values: object) -> str:
    """A sentence of the page in English."""
    return say("en", key, **values)


def link(knobs: dict[str, object] | None = None, **cursor: object) -> str:
    """The path of a page with these settings at the left, looking where `cursor` says; of the run that reverses, unless it says another."""
    return "?" + urlencode({"run": "reverse", **(knobs or {}), **cursor})


def eventually(page: Page, read: Callable[[], T], good: Callable[[T], bool]) -> T:
    """Reads until what was read is good, and returns that. A page changes when it is ready to, not when a test looks."""
    end = time.monotonic() + PATIENCE
    while not good(value := read()):
        assert time.monotonic() < end, f"still {value!r}"
        page.wait_for_timeout(50)
    return value


def train(page: Page) -> str:
    """Presses Train. Returns the new run's id, once the page shows it."""
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    before = address(page).get("run")
    if page.locator("body").get_attribute("data-place") != "train":
        press_tab(page, "training")
    page.locator("#pg-train").click()
    return new_run(page, before)


def new_run(page: Page, before: str | None) -> str:
    """Waits until the page shows another run than `before`, with its sentence and its panel."""
    run = eventually(page, lambda: address(page).get("run"), lambda run: run not in (None, before))
    expect(page.locator("#pg-status")).to_have_attribute("data-run", run)
    ready(page)
    return run


def has_status(page: Page, *statuses: str) -> None:
    """Waits until the run on the page is in one of these states."""
    wanted = re.compile("|".join(f"^{status}$" for status in statuses))
    expect(page.locator("#pg-status")).to_have_attribute("data-status", wanted)


def address(page: Page) -> dict[str, str]:
    """Returns the fields in the address bar now; `page.url` hears of a change a little later."""
    return {name: values[0] for name, values in parse_qs(urlsplit(where(page)).query, keep_blank_values=True).items()}


def where(page: Page) -> str:
    return page.evaluate("location.href")


def has_address(page: Page, **wanted: str | None) -> None:
    """Waits until the address says so; None is for what must not stand there."""
    eventually(page, lambda: address(page), lambda now: all(now.get(name) == value for name, value in wanted.items()))


def decoder_rows(written: Sequence[str]) -> list[str]:
    """Returns the names of the decoder's rows that wrote these tokens."""
    return [f"{read}→{following}" for read, following in zip(["<bos>", *written], [*written, "<eos>"], strict=True)]


def tab(page: Page, name: str) -> Locator:
    """Opens a tab, by the name that the address has for it. Returns its panel, drawn."""
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    press_tab(page, name)
    has_address(page, tab=None if name == "training" else name)
    panel = page.locator(f"#pg-panel-{name}")
    drawn(panel)
    return panel


def about_the_run(page: Page) -> None:
    """Opens what there is to know and to do about the run on the page."""
    page.locator("#pg-run-about summary").click()


def press_tab(page: Page, name: str) -> None:
    """Presses the place in which a tab is, and the tab."""
    place = next(place for place, names in PLACES.items() if name in names)
    if page.locator("body").get_attribute("data-place") != place:
        page.locator(f"#pg-to-place-{place}").click()
    page.locator(f"#pg-to-tab-{name}").click()


def drawn(panel: Locator) -> None:
    """Waits until a panel shows what the address says: all of it was read and what is in sight was drawn."""
    expect(panel).to_have_attribute("data-drawn", re.compile("."))
    expect(panel).to_have_attribute("aria-busy", "false")


def type_sentence(page: Page, sentence: str) -> None:
    """Types a sentence, and waits until the page has taken it."""
    page.locator("#pg-sentence").fill(sentence)
    has_address(page, text=sentence)


def source(page: Page) -> Locator:
    """The sentence as the page shows it in pieces."""
    return page.locator("#pg-result .pg-tokens").first.locator(".pg-chip")


def output(page: Page) -> Locator:
    """Returns the model's output for it, token by token."""
    return page.locator("#pg-result .pg-tokens.out .pg-chip")


def number(place: Locator, name: str) -> int:
    """A number that stands in an attribute."""
    return int(place.get_attribute(name) or 0)


def replay_of(page: Page, frames: int = 1) -> Locator:
    """The replay's slider, once there are so many pictures to slide along."""
    replay = page.locator("#pg-replay")
    eventually(page, lambda: number(replay, "data-frames"), lambda count: count >= frames)
    return replay


def figure(page: Page, name: str) -> Locator:
    """A picture, drawn and in sight."""
    place = page.locator(f"#pg-figure-{name}")
    place.scroll_into_view_if_needed()
    expect(place).to_have_attribute("data-points", re.compile("[1-9]"))
    return place


def drawn_from(page: Page, name: str) -> dict:
    """The first trace of a picture as it is drawn now."""
    return page.locator(f"#pg-figure-{name}").evaluate("plot => plot.data[0]")


# The place of data in pixels of the window, once it was the same in three successive frames: pictures above may still be on their way.
PLACE = """async (plot, [x, y]) => {
  const place = () => {
    const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(y)];
  };
  let was = place();
  for (let same = 0; same < 2; ) {
    await new Promise(requestAnimationFrame);
    const now = place();
    same = String(now) === String(was) ? same + 1 : 0;
    was = now;
  }
  return was;
}"""


def place_of(page: Page, name: str, x: float, y: float) -> tuple[float, float]:
    """Where the window shows the data (x, y) of a picture, once it has come to rest."""
    return tuple(figure(page, name).evaluate(PLACE, [x, y]))


def point_at(page: Page, name: str, x: float, y: float, says: str | re.Pattern) -> tuple[float, float]:
    """Moves the mouse to the data (x, y) of a picture until its hover text says so. Returns where that is."""
    hover = page.locator(f"#pg-figure-{name} .hoverlayer .hovertext")
    wanted = says if isinstance(says, re.Pattern) else re.compile(re.escape(says))

    def move() -> tuple[tuple[float, float], str]:
        at = place_of(page, name, x, y)
        page.mouse.move(at[0] + 1, at[1] + 1)  # a mouse that rests is not heard
        page.mouse.move(*at)
        page.wait_for_timeout(100)  # Plotly looks at the mouse twenty times a second
        return at, " ".join(hover.all_text_contents())

    return eventually(page, move, lambda hover: bool(wanted.search(hover[1])))[0]


def watch_values(page: Page, place: str, name: str) -> Callable[[], list[str]]:
    """Begins to watch an attribute. Returns what tells every value it has had since: a test may look too late, this doesn't."""
    page.locator(place).evaluate(
        """(element, name) => {
          const seen = ((element.pgSeen ??= {})[name] = []);
          new MutationObserver(() => seen.push(element.getAttribute(name))).observe(element, { attributeFilter: [name] });
        }""",
        name,
    )
    return lambda: page.locator(place).evaluate("(element, name) => element.pgSeen[name]", name)


def is_not_wide(page: Page) -> None:
    """Nothing sticks out of the window sideways."""
    eventually(page, lambda: page.evaluate("document.documentElement.scrollWidth - innerWidth"), lambda more: more <= 0)


def upload(page: Page, name: str, content: bytes) -> None:
    """Chooses a file, in the tab of own sentences."""
    page.locator("#pg-files input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})
