"""Training (section 5). Read in this order:

step (one update, and its loss) · schedule · optimisers · metrics · loop (training as a generator of steps) · replicas (the model once for
each part of a batch, with faster attention, products and dropout) · chunked_loss (for a large vocabulary) · diagnostics (gradients and
activations of a step) · slow_step (a step with everything recorded) · work (FLOPs and memory traffic of a step, by formula) · cuda_graph
(recorded steps, on a GPU).
"""
