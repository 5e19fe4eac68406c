"""Formats: one module for each family. A reader takes sources and returns a table, or None for another format. Read in this order:

table (a reader's input and output, the limits and the register) · records (lines with a separator) · delimited · marked · lines ·
interleaved · wrapped · sheets · xml_events and exchange · program_texts · annotated · parquet · items and json_lists.

Shared: languages (their names, and the language of a line) · column_names and columns (columns by their names and cells).

Every module here is imported, and each of its readers registers itself with its confidence: a new format is one new module.
"""

from importlib import import_module
from pkgutil import iter_modules

from playground.reading.formats.table import FORMATS, Format, read_first

__all__ = ["BY_LINE", "WHOLE", "Format", "read_first"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
FORMATS.sort(key=lambda entry: -entry.confidence)
WHOLE = tuple(entry for entry in FORMATS if entry.is_whole)
BY_LINE = tuple(entry for entry in FORMATS if not entry.is_whole)
