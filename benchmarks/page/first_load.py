"""A first visit, nothing cached, on this machine's own line and on a slow one: what is fetched, and when something is to be seen."""

from __future__ import annotations

import argparse
from collections import Counter
from statistics import median
from typing import Any

from benchmarks.browser import Browser
from benchmarks.server import Server
from benchmarks.suite import note
from benchmarks.tables import markdown, seconds, shown, summary, whole

SCREEN = {"width": 1440, "height": 900}
LINES = {"local": None, "slow": {"offline": False, "latency": 60, "downloadThroughput": 500_000, "uploadThroughput": 500_000}}  # 4 Mbit/s
TIMES = {
    "paint": "anything on screen",
    "sentence": "the first sentence, with what becomes of it",
    "picture": "the first picture of attention",
    "plotly": "the same picture from Plotly",
    "ready": "everything in view",
}
KINDS = ("page", "Gradio's scripts", "Gradio's styles", "Plotly", "our scripts and styles", "our JSON", "the rest")
QUIET = 500  # milliseconds after everything is in view
# Kept in every page from its first moment, in milliseconds since it was asked for. What lies hidden is not there.
WATCH = """
window.seen = { moved: 0 };
const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
const there = (selector) => [...document.querySelectorAll(selector)].some(isSeen);
const looked = () => {
  const now = performance.now(), plotly = there(".pg-plot[data-points]:not([data-points='0'])");
  if (plotly || there("#pg-first svg")) window.seen.picture ??= now;
  if (there("#pg-result .pg-chip, #pg-first .chip")) window.seen.sentence ??= now;
  if (plotly) window.seen.plotly ??= now;
  if (document.body?.dataset.playground === "ready" && plotly) return void (window.seen.ready = now);
  requestAnimationFrame(looked);
};
requestAnimationFrame(looked);
const watch = (type, act) => new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
watch("paint", ({ startTime }) => (window.seen.paint ??= startTime));
watch("layout-shift", ({ value }) => (window.seen.moved += value));
"""


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"lines": {line: {name of TIMES: summary of seconds, "moved": layout shift}}, "bytes": {kind: {"bytes", "requests"}}, "total"}.

    Bytes are those over the line, headers included, until half a second after everything is in view. Of layout
    shifts the most. The first visit is warm-up.
    """
    with Browser() as browser:
        _visit(browser, server.url, None)
        lines, fetched = {}, []
        for name, line in LINES.items():
            visits = [_visit(browser, server.url, line) for _ in range(options.starts)]
            fetched += [bytes for _, bytes in visits]
            times = {event: summary(seen[event] / 1000 for seen, _ in visits) for event in TIMES}
            lines[name] = times | {"moved": max(seen["moved"] for seen, _ in visits)}
            note(f"{name}: first picture {times['picture']['median']:.2f} s, Plotly's {times['plotly']['median']:.2f} s")
    kinds = {
        kind: {"bytes": median(sum(one[kind]) for one in fetched), "requests": median(len(one[kind]) for one in fetched)} for kind in KINDS
    }
    return {"lines": lines, "bytes": kinds, "total": median(sum(map(sum, one.values())) for one in fetched)}


def _visit(browser: Browser, url: str, line: dict[str, Any] | None) -> tuple[dict[str, float], dict[str, list[int]]]:
    """What somebody new saw, and the bytes of each file by its kind."""
    context = browser.visitor()
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_viewport_size(SCREEN)
    tools, asked, sizes = context.new_cdp_session(page), {}, Counter()
    tools.send("Network.enable")
    if line:
        tools.send("Network.emulateNetworkConditions", line)
    tools.on("Network.requestWillBeSent", lambda event: asked.update({event["requestId"]: event["request"]["url"]}))
    tools.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])}))
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.seen.ready && window.seen.paint", timeout=60_000)
    page.wait_for_timeout(QUIET)
    seen, found = page.evaluate("window.seen"), {kind: [] for kind in KINDS}
    for request, size in sizes.items():
        if asked.get(request, "data:").startswith("http"):
            found[_kind(asked[request].removeprefix(url))].append(size)
    context.close()
    return seen, found


def _kind(path: str) -> str:
    path = path.partition("?")[0]
    ours = path.startswith("gradio_api/playground/")
    if path.endswith("plotly.js"):
        return "Plotly"
    if path.endswith((".js", ".css")):
        return "our scripts and styles" if ours else "Gradio's scripts" if path.endswith(".js") else "Gradio's styles"
    return "our JSON" if ours else "the rest" if path else "page"


def table(result: dict) -> str:
    head = ("a first visitor sees, after", *(f"{name} line: seconds" for name in result["lines"]))
    rows = [(said, *(shown(line[event], seconds) for line in result["lines"].values())) for event, said in TIMES.items()]
    rows.append(("layout shift", *(f"{line['moved']:.3f}" for line in result["lines"].values())))
    fetched = [(kind, whole(found["bytes"] / 1000), whole(found["requests"])) for kind, found in result["bytes"].items()]
    fetched.append(("all", whole(result["total"] / 1000), whole(sum(found["requests"] for found in result["bytes"].values()))))
    return f"{markdown(head, rows)}\n\n{markdown(('over the line', 'kB', 'requests'), fetched)}"
