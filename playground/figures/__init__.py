"""Pictures: arrays and token lists in, plain dictionaries that plotly.js draws out.

Every function returns {"data": [...], "layout": {...}}, ready for JSON, and takes two keywords: `dark`, and `labels`, a mapping from
the names in words/*/figures.json to a language's text. Functions whose picture is made of cells also take `width`, the pixels the page
has, because cells are to be square. Rows ask and run downwards, columns answer.
"""
