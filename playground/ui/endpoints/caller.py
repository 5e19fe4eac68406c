"""The context of an endpoint's call: its server and request."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from playground.features.shared.queries.reader import Reader
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.network import run_link


@dataclass(frozen=True)
class Caller:
    runs: Runs
    reader: Reader
    request: gr.Request | None = None

    def run(self, id: str) -> Run:
        """Returns a run and marks it as viewed. Raises Refusal."""
        run = self.runs.get(id)
        run.mark_seen()
        return run

    def readable(self, id: str, owner: str) -> Run:
        """Returns a run to look inside, which reveals its sentences. Raises Refusal where they are not open to `owner`."""
        self.runs.require_reader(id, owner)
        return self.run(id)

    def link(self, run: Run) -> str:
        """Returns the page's address for a run."""
        return run_link(run.id, getattr(self.request, "base_url", "") or "/")
