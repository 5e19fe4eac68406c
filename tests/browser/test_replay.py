"""Somebody winds back to see how the model learnt, and starts anew from there."""

from __future__ import annotations

import re

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
