"""Somebody winds back to see how the model learnt, and starts anew from there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    ONE_SENTENCE,
    address,
    drawn,
    drawn_from,
    eventually,
    figure,
    has_address,
    has_status,
    link,
    new_run,
    number,
    output,
    replay_of,
    tab,
    train,
    words,
)

RIGHT = ["i", "want", "a", "beer"]
SHAPE = """plot => JSON.stringify([plot.offsetWidth, plot.offsetHeight, plot.layout.meta.rows, plot.layout.meta.columns,
  plot.closest('.pg-block').offsetHeight, plot.closest('.pg-block').querySelector('h3').textContent])"""
WATCH = f"""plot => {{
  const panel = document.getElementById('pg-panel-training'), shape = {SHAPE};
  Object.assign(plot, {{ seen: {{}}, fades: 0 }});
  new MutationObserver(() => (plot.seen[panel.dataset.step] = shape(plot))).observe(panel, {{ attributeFilter: ['data-drawn'] }});
  const count = ({{ addedNodes }}) => addedNodes.forEach((node) => (plot.fades += Number(node.matches?.('.pg-fading') ?? false)));
  new MutationObserver((changes) => changes.forEach(count)).observe(plot, {{ childList: true, subtree: true }});
}}"""


@pytest.mark.night
def test_scrub_the_replay(visit):
    """The slider goes back to the first step, every panel follows, the replay plays to its end, and a fork starts in the middle."""
    page = visit(link(ONE_SENTENCE))
    run = train(page)
    has_status(page, "done")
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()
    replay = replay_of(page, frames=10)
    count = number(replay, "data-frames")
    has_address(page, step=None)
    expect(replay).to_have_value(str(count))
    expect(output(page)).to_have_text(RIGHT)

    replay.fill("0")
    has_address(page, step="0")
    learn = page.locator("#pg-panel-training")
    expect(learn).to_have_attribute("data-step", "0")
    expect(page.locator("#pg-result .pg-verdict.wrong")).to_be_visible()
    expect(output(page)).not_to_have_text(RIGHT)
    expect(learn.locator(".pg-probes .pg-wrong")).to_have_count(1)
    expect(page.locator("#pg-replay-step")).to_have_text("step 0 of 60")
    drawn(learn)
    early = drawn_from(page, "learn-cross")["z"]
    line = page.locator("#pg-figure-loss")
    eventually(page, lambda: line.evaluate("plot => plot.layout.shapes[0]"), lambda mark: mark["visible"] is True and mark["x0"] == 0)

    for name in ("translate", "attention"):
        expect(tab(page, name)).to_have_attribute("data-step", "0")
    expect(page.locator("#pg-panel-translate [data-block='text verdict']")).to_contain_text("differ from the reference")

    tab(page, "training")
    page.locator("#pg-replay-play").click()
    expect(page.locator("#pg-replay-play")).to_have_attribute("aria-label", words("page.replay_pause"))
    eventually(page, lambda: int(address(page)["step"]), lambda step: step >= 2)
    page.locator("#pg-replay-play").click()
    expect(page.locator("#pg-replay-play")).to_have_attribute("aria-label", words("page.replay_play"))
    stopped = address(page)["step"]
    expect(learn).to_have_attribute("data-step", stopped)

    page.locator("#pg-replay-forward").click()
    eventually(page, lambda: int(address(page)["step"]), lambda step: step > int(stopped))
    page.locator("#pg-replay-back").click()
    has_address(page, step=stopped)
    page.locator("#pg-replay-now").click()
    has_address(page, step=None)
    expect(learn).to_have_attribute("data-step", "60")
    drawn(learn)
    assert drawn_from(page, "learn-cross")["z"] != early

    replay.fill(str(count // 2))
    step = eventually(page, lambda: int(address(page).get("step", 0)), lambda step: 0 < step < 60)
    attention = tab(page, "attention")
    page.locator("#pg-fork").click()
    expect(page.locator(".pg-notice", has_text=f"starts from the parameters of step {step}.")).to_have_count(1)  # it goes by itself
    new_run(page, run)
    has_address(page, step=None, tab="attention")
    has_status(page, "done")
    drawn(attention)
    expect(page.locator("#pg-facts")).to_contain_text(re.compile(rf"from \S+ at step {step}"))
    tab(page, "training")
    curves = "plot => plot.data.filter((trace) => trace.meta.y === 'loss').map((trace) => trace.x)"
    eventually(page, lambda: figure(page, "loss").evaluate(curves), lambda now: now == [[*range(1, step + 1)], [*range(step + 1, 61)]])
    assert number(replay_of(page), "data-frames") == count
    expect(page.locator("#pg-run option").nth(1)).to_have_attribute("value", run)


@pytest.mark.night
def test_it_plays_as_one_picture(visit):
    """Every frame is as large as the last one, of the same head and the same rows; its colours fade into the next one's."""
    page = visit(link(run="reverse"))
    learn, replay = page.locator("#pg-panel-training"), page.locator("#pg-replay")
    drawn(learn)
    plot, button = page.locator("#pg-figure-learn-cross"), page.locator("#pg-replay-play")
    now = plot.evaluate(SHAPE)
    plot.evaluate(WATCH)
    button.click()
    expect(button).to_have_attribute("aria-label", words("page.replay_pause"))
    expect(button).to_have_attribute("aria-label", words("page.replay_play"), timeout=60_000)  # it ends by itself
    seen = plot.evaluate("plot => plot.seen")
    assert len(seen) == number(replay, "data-frames") + 1  # the last stop is now
    assert set(seen.values()) == {now}
    assert plot.evaluate("plot => plot.fades") > len(seen) / 2
    expect(plot.locator(".pg-fading")).to_have_count(0)

    replay.fill("12")
    has_address(page, step="16")
    drawn(learn)
    assert plot.evaluate(SHAPE) == now
    page.emulate_media(reduced_motion="reduce")
    fades = plot.evaluate("plot => plot.fades")
    page.locator("#pg-replay-forward").click()
    expect(learn).to_have_attribute("data-step", "19")
    drawn(learn)
    assert plot.evaluate("plot => plot.fades") == fades


PLACED = """() => {
  const panel = [...document.querySelectorAll('.pg-panel')].find((one) => one.offsetParent);
  const plot = panel.querySelector('.pg-lines svg, [data-block^="figure "] .pg-plot');
  const { x, y, width, height } = plot.getBoundingClientRect();
  const cells = [...plot.querySelectorAll('.heatmaplayer image:not(.pg-fading)')].map((image) => image.getBoundingClientRect());
  const boxes = [{ x, y, width, height }, ...cells].map((box) => [box.x, box.y + scrollY, box.width, box.height].map(Math.round));
  const labels = [...plot.querySelectorAll('.xtick text, .ytick text')].map((label) => label.textContent);
  return JSON.stringify([boxes, labels, panel.querySelector('.pg-lines h3, .pg-figure h3').textContent]);
}"""


@pytest.mark.night
@pytest.mark.parametrize(
    ("run", "place", "first"),
    [
        ("reverse", {"tab": "training"}, 0),
        ("reverse", {"tab": "attention"}, 1),
        ("german_english", {"tab": "attention", "part": "decoder"}, 2),
        ("reverse", {"tab": "attention", "view": "lines"}, 0),
        ("german_english", {"tab": "attention", "view": "rollout"}, 1),
    ],
)
def test_no_frame_moves_the_picture(visit, run, place, first):
    """Picture, cells and labels stand at the same pixels in every third frame from the `first` on, and the head stays."""
    page = visit(link(run=run, **place), viewport={"width": 1440, "height": 900})
    panel, count = page.locator(f"#pg-panel-{place['tab']}"), number(replay_of(page), "data-frames")
    seen = set()
    for frame in range(first, count, 3):
        page.locator("#pg-replay").fill(str(frame))
        expect(panel).to_have_attribute("data-step", address(page)["step"])
        drawn(panel)
        page.wait_for_timeout(50)
        seen.add(page.evaluate(PLACED))
    assert len(seen) == 1, seen


@pytest.mark.night
def test_who_follows_the_best_head_sees_it_change_and_who_stops_keeps_it(visit):
    page = visit(link(run="reverse", step="90"))
    learn = page.locator("#pg-panel-training")
    title = learn.locator("[data-block='figure learn-cross'] h3")
    drawn(learn)
    best = title.inner_text()
    follow = learn.locator("[data-block='choice follow']")
    page.locator("#pg-replay").fill("0")
    expect(learn).to_have_attribute("data-step", "0")
    expect(title).to_have_text(best)
    follow.locator("[data-value=on]").click()
    expect(title).not_to_have_text(best)
    other = title.inner_text()
    follow.locator("[data-value=off]").click()
    has_address(page, follow=None)
    page.locator("#pg-replay").fill("23")
    expect(learn).to_have_attribute("data-step", "90")
    expect(title).to_have_text(other)
