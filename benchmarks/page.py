"""The page: how soon it is there, what a first visit fetches, and how long each panel takes the server.

start: from the start of the process, and for a visitor of a server that runs. first_load: a first visit, nothing cached, on this machine's
own line and on a slow one. panels: each panel, idle and while a run trains.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from benchmarks.server import ROUTES, Client, Server, app, endless, free_port, train, wait_for_answer
from benchmarks.suite import Missing, note, some_of, tiny
from benchmarks.tables import markdown, milliseconds, percentile, seconds, show_summary, summary, whole
from playground.features.registry import TABS
from playground.tasks.toy_tasks import examples

ABOUT = "start to first answer and first picture; bytes and seconds of a first visit; ms of each panel, idle and while a run trains"
SMOKE = {"parts": ["panels"], "starts": 1, "requests": 2, "pause": 0.0, "set": tiny(steps=8, eval_every=5, threads=1)}
NAMES = ("sentence", *TABS)  # what a click waits for; parts of a tab that come later say so on the page
STARTS = {
    "answer": "start of the process to the server's first answer",
    "picture": "start of the process to the first picture in a browser",
    "ready": "start of the process to everything in view",
    "again_picture": "the same visitor again, to a server that runs: to the first picture",
    "again_ready": "the same visitor again: to everything in view",
}
INSTALL = "no Chromium was found: apt-get install chromium, or python -m playwright install chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-proxy-server",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
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


@contextmanager
def open_browser() -> Iterator[Any]:
    """Yields Playwright's browser. Raises Missing when there is none."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise Missing("playwright is missing: pip install -r requirements-dev.txt") from None
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except Error:
            raise Missing(INSTALL) from None
        yield browser
        browser.close()


def new_visitor(browser: Any) -> Any:
    """Returns a new visitor with an empty cache: Playwright's context. Closing it closes its pages."""
    context = browser.new_context(viewport=SCREEN, locale="en-US")
    context.add_init_script(WATCH)
    return context


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), metavar="A,B", help=", ".join(PARTS))
    parser.add_argument("--starts", type=int, default=5, help="of the app, and visits to it")
    parser.add_argument("--requests", type=int, default=40, help="for each panel, idle and while a run trains")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between two requests")


def run(options: argparse.Namespace) -> dict:
    """Returns the result of each part by its name; the functions `_measure` say what is in it."""
    return {part: PARTS[part][0](options) for part in options.parts}


def table(result: dict) -> str:
    return "\n\n".join(PARTS[name][1](part) for name, part in result.items() if name in PARTS)


def _measure_start(options: argparse.Namespace) -> dict:
    """Returns summaries of seconds by the names of STARTS, and "chromium". The browser is open before the process
    starts; files are warm on the disk after the first start."""
    times: dict[str, list[float]] = {name: [] for name in STARTS}
    with open_browser() as browser:
        for number in range(options.starts):
            port, visitor = free_port(), new_visitor(browser)
            started = time.time()
            with app(port):
                wait_for_answer(port)
                times["answer"].append(time.time() - started)
                _open(times, "", visitor, port, started)
                _open(times, "again_", visitor, port, time.time())
                visitor.close()
            note(f"start {number + 1}: answer {times['answer'][-1]:.2f} s, picture {times['picture'][-1]:.2f} s")
        return {name: summary(values) for name, values in times.items()} | {"chromium": browser.version}


def _open(times: dict[str, list[float]], name: str, visitor: Any, port: int, started: float) -> None:
    page = visitor.new_page()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.wait_for_function("window.seen?.ready", timeout=60_000)
    for event, moment in (("picture", "plotly"), ("ready", "ready")):
        times[f"{name}{event}"].append(page.evaluate(f"performance.timeOrigin + window.seen.{moment}") / 1000 - started)
    page.close()


def _start_table(result: dict) -> str:
    return markdown(("from, to", "seconds"), ((label, show_summary(result[name], seconds)) for name, label in STARTS.items()))


def _measure_first_load(options: argparse.Namespace) -> dict:
    """{"lines": {line: {name of TIMES: summary of seconds, "moved": layout shift}}, "bytes": {kind: {"bytes", "requests"}}, "total"}.

    Bytes are those over the line, headers included, until half a second after everything is in view. Of layout
    shifts the most. The first visit is warm-up.
    """
    with Server() as server, open_browser() as browser:
        _visit(browser, server.url, None)
        lines, fetched = {}, []
        for name, line in LINES.items():
            visits = [_visit(browser, server.url, line) for _ in range(options.starts)]
            fetched += [bytes for _, bytes in visits]
            times = {event: summary(moments[event] / 1000 for moments, _ in visits) for event in TIMES}
            lines[name] = times | {"moved": max(moments["moved"] for moments, _ in visits)}
            note(f"{name}: first picture {times['picture']['median']:.2f} s, Plotly's {times['plotly']['median']:.2f} s")
    middle = {"bytes": sum, "requests": len}
    kinds = {kind: {name: statistics.median(count(visit[kind]) for visit in fetched) for name, count in middle.items()} for kind in KINDS}
    return {"lines": lines, "bytes": kinds, "total": statistics.median(sum(map(sum, visit.values())) for visit in fetched)}


def _visit(browser: Any, url: str, line: dict[str, Any] | None) -> tuple[dict[str, float], dict[str, list[int]]]:
    """Returns the moments of a new visit, and the bytes of each file by its kind."""
    context = new_visitor(browser)
    page = context.new_page()
    tools, urls, sizes = context.new_cdp_session(page), {}, Counter()
    tools.send("Network.enable")
    if line:
        tools.send("Network.emulateNetworkConditions", line)
    tools.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
    tools.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])}))
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.seen.ready && window.seen.paint", timeout=60_000)
    page.wait_for_timeout(QUIET)
    moments, values = page.evaluate("window.seen"), {kind: [] for kind in KINDS}
    for request, size in sizes.items():
        if urls.get(request, "data:").startswith("http"):
            values[_kind(urls[request].removeprefix(url))].append(size)
    context.close()
    return moments, values


def _kind(path: str) -> str:
    path = path.partition("?")[0]
    ours = path.startswith("gradio_api/playground/")
    if path.endswith("plotly.js"):
        return "Plotly"
    if path.endswith((".js", ".css")):
        return "our scripts and styles" if ours else "Gradio's scripts" if path.endswith(".js") else "Gradio's styles"
    return "our JSON" if ours else "the rest" if path else "page"


def _first_load_table(result: dict) -> str:
    head = ("a first visitor sees, after", *(f"{name} line: seconds" for name in result["lines"]))
    rows = [(label, *(show_summary(line[event], seconds) for line in result["lines"].values())) for event, label in TIMES.items()]
    rows.append(("layout shift", *(f"{line['moved']:.3f}" for line in result["lines"].values())))
    fetched = [(kind, whole(values["bytes"] / 1000), whole(values["requests"])) for kind, values in result["bytes"].items()]
    fetched.append(("all", whole(result["total"] / 1000), whole(sum(values["requests"] for values in result["bytes"].values()))))
    return f"{markdown(head, rows)}\n\n{markdown(('over the line', 'kB', 'requests'), fetched)}"


def _measure_panels(options: argparse.Namespace) -> dict:
    """Seconds from asking for a panel to its last byte, each time with a sentence that the server has not seen.

    {"rows": [{"panel", "bytes", "idle": {"median", "p95"}, "training": {...}}]}
    """
    knobs = dict(options.set)
    with Server() as server:
        idle = _ask_all(server.port, train(server, knobs), options)
        with endless(server, knobs) as training:
            busy = _ask_all(server.port, training, options)
    rows = []
    for name in NAMES:
        times = {"idle": idle[name][0], "training": busy[name][0]}
        values = {mode: {"median": statistics.median(all), "p95": percentile(all, 0.95)} for mode, all in times.items()}
        rows.append({"panel": name, "bytes": statistics.median(busy[name][1])} | values)
    return {"rows": rows}


def _panels_table(result: dict) -> str:
    head = ("panel", "idle: median ms", "p95", "while a run trains: median ms", "p95", "bytes")
    rows = [
        (row["panel"], *(milliseconds(row[mode][at]) for mode in ("idle", "training") for at in ("median", "p95")), whole(row["bytes"]))
        for row in result["rows"]
    ]
    return markdown(head, rows)


def _ask_all(port: int, run: str, options: argparse.Namespace) -> dict[str, tuple[list[float], list[int]]]:
    """Every panel in turn, so that what happens beside the benchmark hits all of them: name -> (seconds, bytes) of each answer."""
    sentences = examples("reverse", "heldout", options.requests * len(NAMES) + len(NAMES), 999_998)
    texts, client = itertools.cycle(sentence.src for sentence in sentences), Client(port)
    values: dict[str, tuple[list[float], list[int]]] = {name: ([], []) for name in NAMES}
    try:
        for number in range(options.requests + 1):
            for name, (times, sizes) in values.items():
                body, took = client.get(f"{ROUTES}/panel/{name}", run=run, text=next(texts))
                orjson.loads(body)
                if number:  # the first of each is warm-up
                    times.append(took)
                    sizes.append(len(body))
                time.sleep(options.pause)
    finally:
        client.close()
    return values


PARTS = {
    "start": (_measure_start, _start_table),
    "first_load": (_measure_first_load, _first_load_table),
    "panels": (_measure_panels, _panels_table),
}
