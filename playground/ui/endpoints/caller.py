"""Who calls an endpoint, and of which server."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.network import link_to


@dataclass(frozen=True)
class Caller:
    runs: Runs
    reader: Reader
    request: gr.Request | None = None

    def run(self, id: str) -> Run:
        """A run that somebody looks at. Raises Refusal."""
        run = self.runs.get(id)
        run.seen()
        return run

    def link(self, run: Run) -> str:
        """Where the page shows a run."""
        return link_to(run.id, getattr(self.request, "base_url", "") or "/")
