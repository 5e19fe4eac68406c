"""How a training looks to whoever watches it in a real browser: how often its curve and its pictures change."""

from __future__ import annotations

import argparse
from urllib.parse import urlencode

from benchmarks.browser import Browser
from benchmarks.server import Server
from benchmarks.suite import note
from benchmarks.tables import markdown, shown, summary

SCREEN = {"width": 1440, "height": 900}
PATIENCE = 300_000  # milliseconds that a training may take
# Of every frame of the browser: when it was, and whether the curve's path, and the step of all beside it, was another one than before.
WATCH = """() => {
  window.grown = { began: 0, ended: 0, frames: 0, curve: 0, pictures: 0, longest: 0 };
  let path = "", step = "", last = 0;
  const look = (now) => {
    const there = (selector) => document.querySelector(selector), beside = there("#pg-result")?.dataset.step ?? "";
    const line = there("#pg-figure-loss .pg-pen path")?.getAttribute("d") ?? "";
    if (line && there("#pg-status")?.dataset.status === "training") {
      if (line !== path && path && !grown.began) grown.began = now;
      if (grown.began) {
        if (last) grown.longest = Math.max(grown.longest, now - last);
        grown.frames += 1;
        grown.curve += line !== path;
        grown.pictures += beside !== step;
        grown.ended = last = now;
      }
      [path, step] = [line, beside];
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
ROWS = {"frames": "of the browser itself", "curve": "of the curve", "pictures": "of numbers, tokens and picture together"}


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"rates": {name of ROWS: summary of changes a second}, "longest": summary of the seconds between two frames of the browser}, all
    while a run with `options.set` trains that was begun with the button."""
    with Browser() as browser:
        seen = [_watch(browser, server.url, dict(options.set)) for _ in range(options.repeats)]
    lasted = [(one["ended"] - one["began"]) / 1000 or float("nan") for one in seen]
    rates = {name: summary(one[name] / time for one, time in zip(seen, lasted, strict=True)) for name in ROWS}
    note(f"the curve changes {rates['curve']['median']:.1f} times a second")
    return {"rates": rates, "longest": summary(one["longest"] / 1000 for one in seen)}


def _watch(browser: Browser, url: str, knobs: dict) -> dict[str, float]:
    context = browser.visitor()
    page = context.new_page()
    page.set_viewport_size(SCREEN)
    page.goto(f"{url}?{urlencode(knobs)}", wait_until="commit")
    page.wait_for_selector('body[data-playground="ready"][data-knobs="ready"]', timeout=PATIENCE)
    before = page.get_attribute("#pg-status", "data-run")
    page.evaluate(WATCH)
    page.click("#pg-train")
    over = "before => (({ run, status }) => run !== before && status === 'done')(document.querySelector('#pg-status').dataset)"
    page.wait_for_function(over, arg=before, timeout=PATIENCE)
    found = page.evaluate("grown")
    context.close()
    return found


def table(result: dict) -> str:
    rows = [(said, shown(result["rates"][name], "{:.1f}".format)) for name, said in ROWS.items()]
    rows.append(("longest time between two frames of the browser, ms", shown(result["longest"], lambda time: f"{1000 * time:.0f}")))
    return markdown(("while a run trains, changes a second", ""), rows)
