"""Interpretability: pure functions of a model or of arrays that find true, checkable statements. Read in this order:

fact (a statement: the key of a sentence in words/ and its numbers) · attention (the tokens that a head attends to) · masks (of a batch) ·
heads (a name for each) · overview (all heads side by side, and attention through the layers) · logits (each layer's prediction, and each
part's share of a logit) · vectors (PCA and cosines, and the shift property of positions) · lengths (length generalisation) · diagnostics
(gradients, activations and costs).

activations (everything a model computes for one sentence) · formulas (the paper's, and the lines of code) · arithmetic (decimals that a
pocket calculator reproduces) · derivation (the computation of one number) · backward (of one number of a gradient), backward_sublayer
(inside attention, and along the residual stream) and update (of a parameter's step) · worksheet (an exercise on paper) · tensors
(statements about one of them) · interventions (heads switched off, attention edited; and the effects).
"""
