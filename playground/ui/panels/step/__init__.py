"""One training step in slow motion. Read in this order: panel · batch (the loss of every token, before and after) · sums (how a number
came to be) · gradient (of logits and parameters) · sublayer (of the residual stream and of attention scores) · optimiser (how a parameter
moves).
"""
