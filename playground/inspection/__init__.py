"""Looking inside: pure functions on arrays that find true, checkable statements for the captions.

attention (what a head looks at) · masks (what is hidden) · positions (the shift property) · probabilities (how sure a step is).
A statement is a `Fact`: the key of a sentence in words/ and the numbers that stand in it.
"""
