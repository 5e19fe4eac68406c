"""Training (section 5). Read in this order:

loss · schedule · muon · optimisers · metrics · loop (training as a generator of steps) · attention, dropout and products (faster versions
of the model's own, for a training step) · chunked_loss (for a large vocabulary) · replicas (the model once for each part of a batch) ·
diagnostics (gradients and activations of a step) · watched (recording hooks) · slow_step (a step with everything recorded) · work (FLOPs of
a step, by formula) · cuda_graph (recorded steps, on a GPU).
"""
