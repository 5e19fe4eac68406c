"""One training step in slow motion. Read in this order: panel · batch (the loss of every token, before and after) · sums (the arithmetic of
a number) · gradient (of logits and parameters) · sublayer (gradients of residual stream and attention scores) · optimiser (updates)."""
