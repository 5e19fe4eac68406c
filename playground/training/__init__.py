"""Training (section 5). Read in this order:

step (one update, and its loss) · optimisers (and the learning rate) · metrics · bleu (scores of outputs, and whether a beam
wins) · loop (training as a generator of steps) · replicas (the model once for each part of a batch, with faster attention, products and
dropout) · fast_step (a large vocabulary in chunks; steps recorded on a GPU) · diagnostics (gradients and activations of a step) ·
slow_step (a step with everything recorded).
"""
