"""A run that trains is seen to train: its curves grow from frame to frame, and no picture stands under the name of another run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import ONE_SENTENCE, SMALL, drawn, eventually, has_status, link, train, words

LEAST = 5  # drawings a second on a machine with other things to do; twenty where it is quiet

WATCH_THE_PEN = """() => {
  window.watched = { drawings: 0, began: 0, ended: 0, last: '', beyond: 0, light: 0 };
  const look = (now) => {
    const plot = document.querySelector('#pg-figure-loss'), path = plot?.querySelector('.pg-pen path')?.getAttribute('d') ?? '';
    if (path && path !== watched.last) {
      watched.drawings += 1;
      watched.began ||= now;
      watched.ended = now;
      const box = plot.querySelector('.pg-pen svg'), { xaxis, yaxis } = plot._fullLayout;
      if (Number(box.getAttribute('x')) !== xaxis._offset || Number(box.getAttribute('height')) !== yaxis._length) watched.beyond += 1;
      watched.light = plot.querySelectorAll('.pg-pen').length;
    }
    watched.last = path;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

# What stands on the page in every frame: whose name, and which picture and which output, "" while it is grey.
WATCH_THE_NAMES = """() => {
  window.frames_seen = [];
  const look = () => {
    const plot = document.querySelector('#pg-figure-learn-cross'), result = document.querySelector('#pg-result');
    const grey = (place) => !place || place.closest('.stale') !== null;
    const title = plot?.closest('.pg-figure').querySelector('h3');
    const one = [
      document.querySelector('#pg-status').dataset.run,
      grey(plot) ? '' : JSON.stringify(plot.data?.[0]?.z ?? ''),
      grey(result) ? '' : result.textContent,
      title && getComputedStyle(title).visibility === 'hidden' ? '' : title?.textContent ?? '',
    ];
    if (JSON.stringify(one) !== JSON.stringify(frames_seen.at(-1))) frames_seen.push(one);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def now(page: Page) -> list[str]:
    return page.evaluate("frames_seen.at(-1)")


@pytest.mark.night
def test_the_curve_grows_from_frame_to_frame_and_ends_as_plotlys(visit):
    """One light line over Plotly's axes; when the run rests Plotly's own is in its place, with the same numbers."""
    page = visit(link(SMALL | {"steps": 700, "eval_every": 100}))
    drawn(page.locator("#pg-panel-training"))
    page.evaluate(WATCH_THE_PEN)
    run = train(page)
    bar = page.locator(".pg-outcome progress")
    expect(bar).to_be_visible()
    eventually(page, lambda: float(bar.get_attribute("value") or 0), lambda step: 0 < step < 700)
    has_status(page, "done")
    loss = page.locator("#pg-figure-loss")
    expect(loss.locator(".pg-pen")).to_have_count(0)
    expect(loss).to_have_attribute("data-points", str(700 + 7))

    watched = page.evaluate("watched")
    assert watched["drawings"] > 10
    rate = 1000 * watched["drawings"] / max(watched["ended"] - watched["began"], 1)
    assert rate >= LEAST, f"{rate:.1f} drawings a second"
    assert watched["beyond"] == 0, "the line was not in the box of Plotly's axes"

    last = page.evaluate("run => fetch(`/gradio_api/playground/history?run=${run}&table=steps`).then((answer) => answer.text())", run)
    step, value = (float(cell) for cell in last.strip().splitlines()[-1].split(",")[:2])
    shown = loss.evaluate("plot => [plot.data[0].x.at(-1), plot.data[0].y.at(-1)]")
    assert shown[0] == step == 700
    assert abs(shown[1] - value) < 1e-4 * value
    expect(loss.locator(".scatterlayer .js-line").first).to_be_visible()
    expect(page.locator(".pg-outcome")).to_contain_text("after 700 steps")
    page.get_by_role("button", name=words("outcome.play")).click()
    eventually(page, lambda: page.locator("#pg-replay-step").inner_text(), lambda text: "700 of" not in text)


@pytest.mark.night
def test_no_picture_stands_under_the_name_of_another_run(visit):
    """From shipped run to shipped run, and from a shipped run to a new one: in every frame the name, the picture and the output agree."""
    whole, frames = {}, []

    def watched() -> Page:
        page = visit(link(ONE_SENTENCE | {"steps": 200}, run="reverse"))
        drawn(page.locator("#pg-panel-training"))
        page.evaluate(WATCH_THE_NAMES)
        return page

    def settled(run: str) -> None:
        whole[run] = eventually(page, lambda: now(page), lambda seen: seen and seen[0] == run and all(seen))

    page = watched()

    settled("reverse")
    for run in ("sort", "reverse", "numbers_de", "sort", "reverse"):
        page.locator("#pg-run").select_option(run)
        settled(run)
    frames += page.evaluate("frames_seen")
    page = watched()  # the controls have what the link says, and not what a chosen run was made with
    new = train(page)
    has_status(page, "done")
    drawn(page.locator("#pg-panel-training"))
    settled(new)

    known = {run: {seen[1], seen[2]} for run, seen in whole.items() if run != new}  # pictures and outputs that belong to a run
    for name, picture, output, title in frames + page.evaluate("frames_seen"):
        strange = [run for run, own in known.items() if run != name and own & {picture, output}]
        assert not strange, f"{strange} under the name of {name}"
        assert bool(picture) == bool(title), "a picture and its title are there together"


@pytest.mark.night
def test_a_refused_training_leaves_the_page_as_it_was(visit):
    """Pictures are greyed when Train is pressed, and are themselves again when no run came of it."""
    page = visit(link(SMALL, run="sort"), route=("**/command*", lambda route: route.fulfill(json={"error": "No."})))
    drawn(page.locator("#pg-panel-training"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    page.locator("#pg-train").click()
    expect(page.locator(".pg-notice.error")).to_contain_text("No.")
    expect(page.locator(".stale")).to_have_count(0)
