"""Questions at the end of a lesson, made of the very run, step and sentence on screen and graded at once. Read in this order:

posed (what a question is, and how wrong choices are found) · attending (lessons on attention and heads) · reading (on tokens, positions
and masks) · layers (on scores, residuals and layer norms) · learning (on curves, steps and data) · decoding (on what is output) ·
rules (on what no list can hold) · registry (which lesson asks which).

A question says no sentence itself: its words are `checks.<name>`, and `checks.<name>_why` for its answer.
"""
