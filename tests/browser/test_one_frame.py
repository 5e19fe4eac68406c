"""While a run trains the page shows one moment of it: name, numbers, tokens and picture are of the same run and the same step."""

from __future__ import annotations

import re

import pytest

from tests.browser.steps import SMALL, drawn, has_status, link, train

RUN = SMALL | {"train_size": 4000, "d_model": 64, "d_ff": 128, "steps": 300, "eval_every": 30}

AT_ITS_ENDS = 4  # questions at the beginning and the end of a run, when something else changed than its picture
# Every 50 ms what stands on the page, "" where it is grey: whose name, and of which step the numbers, the tokens and the picture are.
WATCH = """() => {
  window.samples = [];
  const one = (selector) => document.querySelector(selector);
  const grey = (place) => !place || place.closest('.stale') !== null;
  const step = (place) => grey(place) ? '' : place.textContent.match(/step ([\\d,]+)/i)?.[1].replaceAll(',', '') ?? '';
  const line = (plot) => {
    const mark = plot?.querySelector('.pg-pen-step');
    return mark && getComputedStyle(mark).visibility !== 'hidden' ? mark.dataset.step : '';
  };
  window.sampling = setInterval(() => {
    const select = one('#pg-run'), status = one('#pg-status'), figure = one('[data-block="figure learn-cross"]');
    const plot = figure?.querySelector('.pg-plot'), result = one('#pg-result');
    samples.push({
      status: status.dataset.status, run: status.dataset.run, said: status.textContent, name: select.value,
      cells: grey(plot) ? '' : JSON.stringify(plot.data?.[0]?.z ?? ''),
      caption: step(figure?.querySelector('.pg-caption')),
      tokens: grey(result) ? '' : result.dataset.step ?? '',
      whose: grey(result) ? '' : result.dataset.run ?? '',
      texts: ['#pg-status', '.pg-outcome', '#pg-replay-step'].map((place) => step(one(place))),
      numbers: one('[data-number=exact]') && !grey(one('[data-number=exact]')) ? one('[data-number=exact] b').textContent : '',
      lines: ['loss', 'accuracy'].map((name) => line(one(`#pg-figure-${name}`))),
    });
  }, 50);
}"""


@pytest.mark.night
def test_while_a_run_trains_all_that_has_a_step_has_the_same(visit):
    """From the press of Train to the end: never the old run under the new name, never two steps at once; the curve marks that step."""
    page = visit(link(RUN, run="reverse"), viewport={"width": 1440, "height": 900})
    drawn(page.locator("#pg-panel-training"))
    page.evaluate(WATCH)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/panel/training" in request.url else None)
    run = train(page)
    has_status(page, "done")
    drawn(page.locator("#pg-panel-training"))
    page.wait_for_timeout(300)
    samples = page.evaluate("(clearInterval(sampling), samples)")

    pictures: dict[str, set[str]] = {}
    for sample in samples:
        assert sample["said"] == "" or sample["name"] == sample["run"], f"another run's state under a name: {sample}"
        assert sample["whose"] in ("", sample["name"]), f"another run's tokens under a name: {sample}"
        if sample["name"] != run or sample["status"] != "training":
            continue
        steps = {step for step in [sample["caption"], sample["tokens"], *sample["texts"], *sample["lines"]] if step}
        assert len(steps) <= 1, f"more than one step at once: {sample}"
        if steps and sample["cells"]:
            pictures.setdefault(sample["cells"], set()).update(steps)
    assert len(pictures) > 1, "the picture did not change while the run trained"
    assert all(len(steps) == 1 for steps in pictures.values()), "a picture stood under the step of another one"

    seen = {sample["tokens"] for sample in samples if sample["name"] == run and sample["tokens"]}
    assert len(asked) <= len(seen) + AT_ITS_ENDS, f"{len(asked)} questions for {len(seen)} pictures"

    exact = re.compile(r"([\d.]+) %")
    for sample in samples:
        if sample["name"] == run and (head := exact.search(sample["said"])) and (number := exact.search(sample["numbers"])):
            assert head.group(1) == number.group(1), f"two numbers for one thing: {sample}"
