"""Three ways to train the same experiment up to a target: alone, in the background with its replay, with the page open and watched."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from benchmarks.browser import Browser, open_page
from benchmarks.pace import cores
from benchmarks.server import TOKEN, Server
from playground.config import Experiment
from playground.data.corpus import Item, build_corpus
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.machine_speed import warm_up
from playground.tasks.toy_tasks import examples, references
from playground.training.loop import Training
from playground.training.metrics import build_eval_set, validate

MODES = {"headless": "training alone", "replay": "in the background", "page": "page open"}
OTHERS = 1000  # pairs that had no part in stopping
SETTLE = 2.0  # seconds for a page that has just been opened to come to rest
WARM = {"task": "copy", "train_size": 2000}
WARM_STEPS = 40
# From the click on Train to the page showing that the new run's exact match is at the target. store.js knows which run the number is of.
CLOCK = """async (target) => {
  const { page } = await import(document.querySelector("script[type=module][src$='/main.js']").src.replace("main.js", "store.js"));
  const before = page.live.id;
  const reached = (share) => share >= target - 1e-9;
  document.getElementById("pg-train").addEventListener("click", () => {
    window.benchmark.clicked = performance.now();
    const look = setInterval(() => {
      const number = document.querySelector('#pg-panel-training [data-number="exact"] b')?.textContent;
      const run = page.live;
      if (run.id === before || !reached(run.validations.exact_match?.at(-1)) || !reached(parseFloat(number) / 100)) return;
      window.benchmark.shown = performance.now();
      clearInterval(look);
    }, 20);
  }, { capture: true, once: true });
}"""


class Bench:
    """What the modes need, opened once: a server and a browser."""

    def __init__(self, stack: ExitStack, modes: list[str], settle: float) -> None:
        self.modes, self._settle = modes, settle
        self._browser = stack.enter_context(Browser()) if "page" in modes else None
        self._server = stack.enter_context(Server()) if {"replay", "page"} & set(modes) else None

    @property
    def chromium(self) -> str | None:
        """The browser's version, when there is one."""
        return self._browser and self._browser.version

    def warm_up(self, knobs: dict[str, Any]) -> None:
        """A short training in every mode: the first one in a process waits for much that is then there."""
        warm_up()
        warm = Experiment().with_(**WARM | knobs)
        for mode in self.modes:
            self.train(mode, warm.with_(steps=min(warm.training.steps, WARM_STEPS)), 2.0)

    def train(self, mode: str, experiment: Experiment, target: float) -> dict[str, Any]:
        return {"headless": headless, "replay": self.replay, "page": self.page}[mode](experiment, target)

    def replay(self, experiment: Experiment, target: float) -> dict[str, Any]:
        """Trained by the server's workers, written down, with nobody looking after the first ten seconds."""
        found = self._server.ask("train", knobs=experiment.difference(), target=target)
        self._server.ask("drop", run=found["run"])
        return found

    def page(self, experiment: Experiment, target: float) -> dict[str, Any]:
        """The settings come by link, Train is clicked, and the page follows."""
        visitor = self._browser.visitor(TOKEN)
        try:
            query = "&".join(f"{name}={value}" for name, value in experiment.query().items())
            page, _ = open_page(visitor, f"{self._server.url}?{query}")
            page.wait_for_timeout(1000 * self._settle)
            page.evaluate(CLOCK, target)
            self._server.ask("forget")
            known = self._server.ask("known")
            page.click("#pg-train", no_wait_after=True)
            found = self._server.ask("follow", known=known, knobs=experiment.difference(), target=target)
            if found["reached"]:
                page.wait_for_function("window.benchmark.shown", timeout=30_000)
                times = page.evaluate("window.benchmark")
                found["shown"] = (times["shown"] - times["clicked"]) / 1000
        finally:
            visitor.close()
        self._server.ask("drop", run=found["run"])
        return found


def headless(experiment: Experiment, target: float) -> dict[str, Any]:
    """The training alone: no thread, no replay, no page."""
    config = experiment.training
    with cores(min(config.threads, machine_cores())) as parallel_map:
        started = time.perf_counter()
        corpus = build_corpus(experiment.data)
        prepared = time.perf_counter()
        training, found, validating = Training(experiment, corpus, machine_devices()[0]), None, 0.0
        training.parallel_map = parallel_map
        for step in training.steps():
            if step.step % config.eval_every and step.step != config.steps:
                continue
            before = time.perf_counter()
            found = training.validate()
            validating += time.perf_counter() - before
            if found.exact_match >= target:
                break
        now = time.perf_counter()
        training.parallel_map = map
    return {
        "seconds": now - started,
        "preparing": prepared - started,
        "validating": validating,
        "step": training.step,
        "exact_match": found.exact_match,
        "reached": found.exact_match >= target,
        "others": _others(training),
    }


def _others(training: Training) -> float:
    """Exact match on new pairs: neither trained on nor among those that told when to stop."""
    corpus, data = training.corpus, training.experiment.data
    judged = {item.src for item in corpus.heldout}
    fresh = [e for e in examples(data.task, "heldout", OTHERS + len(judged), data.data_seed + 1) if e.src not in judged][:OTHERS]
    src, tgt = corpus.src_tokenizer, corpus.tgt_tokenizer
    items = tuple(Item(e.src, e.tgt, tuple(src.encode(e.src)), tuple(tgt.encode(e.tgt))) for e in fresh)
    known = replace(corpus, references={e.src: references(data.task, e.src) for e in fresh})
    return validate(training.model, build_eval_set(known, items, training.device)).exact_match
