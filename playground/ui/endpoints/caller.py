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
        run.mark_seen()
        return run

    def readable(self, id: str, owner: str) -> Run:
        """The same to look inside, which tells what it learned from. Raises Refusal where its sentences are not open to `owner`."""
        self.runs.require_reader(id, owner)
        return self.run(id)

    def link(self, run: Run) -> str:
        """Where the page shows a run."""
        return link_to(run.id, getattr(self.request, "base_url", "") or "/")
