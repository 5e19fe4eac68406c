"""Figures that several features draw, and what all figures are made of: arrays and token lists in, dictionaries for plotly.js out.

Read in this order: theme (colours and the empty figure) · tokens (labels) · cells (a grid between tokens) · bars · tensor · graph (a few
lines) · runs (several of them) · attention · masks · sublayers · presented (one for a projector) · plain (without Plotly).

Every figure function returns {"data": [...], "layout": {...}}, ready for JSON, and takes two keywords: `dark`, and `labels`, a mapping from
the names in features/shared/*.json to a language's text. Figures made of cells also take `width`, the page's pixels, because cells are
square. Rows are queries and run downwards, columns are keys.
"""
