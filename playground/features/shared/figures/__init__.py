"""Figures that several features draw, and what all figures are made of: arrays and token lists in, dictionaries for plotly.js out.

Read in this order: theme (colours, the `Style` of a figure, the empty figure) · tokens (labels) · cells (a grid between tokens, and on a
projector) · tensor · graph (bars and a few lines) · runs (several of them) · attention (and masks) · sublayers · plain (without Plotly).

Every figure function returns {"data": [...], "layout": {...}}, ready for JSON, and takes the keyword `style`. Rows are queries and run
downwards, columns are keys.
"""
