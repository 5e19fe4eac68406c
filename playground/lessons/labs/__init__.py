"""The labs. Each is a folder here that is found by itself: its code declares the lab as LAB, or a family of labs in one table as LABS;
`en.json` and `zh.json` have its words, and a test of what it alone does lies beside them as test_<name>.py."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from playground.config import Refusal
from playground.lessons.lab import Lab

KINDS = ("bug", "ablation", "worked_example")


def find_labs() -> Iterator[tuple[Lab, Path]]:
    """Yields each lab with its folder, the labs of a family in the order of their table."""
    for folder in iter_modules(__path__):
        if folder.ispkg:
            module = import_module(f"{__name__}.{folder.name}")
            for lab in getattr(module, "LABS", None) or (module.LAB,):
                yield lab, Path(__file__).parent / folder.name


_labs = sorted(find_labs(), key=lambda entry: (KINDS.index(entry[0].kind), entry[0].order))
LABS: dict[str, Lab] = {lab.name: lab for lab, _ in _labs}  # in display order
FOLDERS: dict[str, Path] = {lab.name: folder for lab, folder in _labs}
START = tuple(name for name, lab in LABS.items() if lab.starts)


def get(name: str) -> Lab:
    """Returns a lab by name. Raises Refusal for an unknown one."""
    if name not in LABS:
        raise Refusal("lessons.no_lab", name=name[:40], names=", ".join(LABS))
    return LABS[name]
