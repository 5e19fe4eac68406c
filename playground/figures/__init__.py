"""Pictures: arrays and token lists in, plain dictionaries that plotly.js draws out. Read in this order:

theme (colours and the empty picture) · tokens (labels) · cells (a grid between tokens) · still (one without Plotly) · presented (one for a
hall) · attention · masks · positions · clocks · tensor · heads · products · lens · attribution · bars · changes · labels (names beside
points) · vectors · tree (a beam search) · curves (learning) · schedule (learning rates to come) · runs (several of them) · board (those of
a class) · diagnostics · training_step (the losses of a batch) · guesses (of a class) · lengths · data · graph (a few lines).

Every function returns {"data": [...], "layout": {...}}, ready for JSON, and takes two keywords: `dark`, and `labels`, a mapping from the
names in words/*/figures.json to a language's text. Functions whose picture is made of cells also take `width`, the pixels the page has,
because cells are to be square. Rows are queries and run downwards, columns are keys.
"""
