"""Finds every panel: it is enough that a module of a feature declares one (see shared/panels.py)."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from playground.config import Refusal
from playground.features.shared.naming import variant_name
from playground.features.shared.panels import ATTENTION, FORMULA, PANELS as DECLARED, SECTIONS
from playground.features.shared.view import View
from playground.runs.run import Run

for _file in sorted(Path(__file__).parent.glob("*/*.py")):
    if not _file.stem.startswith(("test_", "_")):
        import_module(f"playground.features.{_file.parent.name}.{_file.stem}")

_ORDERED = sorted(DECLARED, key=lambda name: (DECLARED[name].section == "", DECLARED[name].section, DECLARED[name].order))
PANELS: dict[str, Callable[[View], dict]] = {name: DECLARED[name].build for name in _ORDERED}
BY_FORMULA = tuple(name for name in _ORDERED if DECLARED[name].needs == FORMULA)
BY_ATTENTION = tuple(name for name in _ORDERED if DECLARED[name].needs == ATTENTION)
# Sections of the page -> their tabs.
PLACES = {section: tuple(name for name in _ORDERED if DECLARED[name].section == section) for section in SECTIONS}
TABS = tuple(name for tabs in PLACES.values() for name in tabs)


def list_unavailable(run: Run) -> tuple[str, ...]:
    """Returns the panels that would show something a run's model isn't or doesn't have."""
    alteration = run.experiment.model.alteration
    if alteration.recurrent:
        return BY_FORMULA + BY_ATTENTION
    return () if alteration.is_built_of_layers else BY_FORMULA


def check(name: str, view: View) -> None:
    """Raises Refusal for a panel that is unavailable, and for the tour, which follows the paper's two stacks."""
    alteration = view.run.experiment.model.alteration
    if name in list_unavailable(view.run) or (name == "map" and alteration.decoder_only and view.read_raw("stop")):
        key = "page.is_recurrent" if alteration.recurrent else "page.has_variant"
        key = "tour.has_variant" if name == "map" and view.read_raw("stop") else key
        raise Refusal(key, variant=variant_name(view.run, view.language))
