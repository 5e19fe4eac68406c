"""Learning (section 5). Read in this order:

loss · schedule · muon · optimisers · metrics · loop (training as a generator of steps) · attention, dropout and products (those of a step,
by faster ways than the model's own) · chunked_loss (that of a large vocabulary) · replicas (the model once for each part of a batch) ·
diagnostics (gradients and activations of a step) · watched (what passes in one) · slow_step (a step with all of that) · work (what a step
computes, by formula) · cuda_graph (a step set going at once, on a GPU).
"""
