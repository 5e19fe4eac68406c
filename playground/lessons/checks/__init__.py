"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · attending (lessons on attention and heads) · reading (on tokens, positions and masks) ·
layers (on scores, residuals and layer norms) · learning (on curves, steps and data) · decoding (on outputs) · rules (on the limits of
lists) · registry (the questions of each lesson).

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer.
"""
