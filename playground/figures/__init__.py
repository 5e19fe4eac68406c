"""Figures: turns arrays and token lists into plain dictionaries that plotly.js draws. Read in this order:

theme (colours and the empty figure) · tokens (labels) · cells (a grid between tokens) · still (one without Plotly) · presented (one for a
projector) · attention · masks · positions · clocks · tensor · heads · products · lens · attribution · bars · changes · labels (names of
points) · vectors · tree (a beam search) · curves (learning) · schedule (a learning rate's) · runs (several of them) · board (a
class's runs) · diagnostics · training_step (the losses of a batch) · guesses (of a class) · lengths · data · graph (a few lines).

Every function returns {"data": [...], "layout": {...}}, ready for JSON, and takes two keywords: `dark`, and `labels`, a mapping from the
names in words/*/figures.json to a language's text. Figures made of cells also take `width`, the page's pixels, because cells are square.
Rows are queries and run downwards, columns are keys.
"""
