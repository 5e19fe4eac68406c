"""Looking inside: pure functions of a model or of arrays that find true, checkable statements.

attention (what a head looks at) · masks (what is hidden) · positions (the shift property) · probabilities (how sure a step is).
stages (everything a model computes for one sentence) · provenance (how one number of it came to be) · formulas (the paper's, and the
lines of code) · arithmetic (written so that a pocket calculator agrees) · worksheet (the same on paper).
A statement is a `Fact`: the key of a sentence in words/ and the numbers that stand in it.
"""
