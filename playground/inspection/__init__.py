"""Looking inside: pure functions of a model or of arrays that find true, checkable statements. Read in this order:

fact (a statement: the key of a sentence in words/ and the numbers that stand in it) · attention (what a head attends to) · masks (what is
hidden) · positions (the shift property) · probabilities (how sure a step is) · products (what one score is made of) · heads (a name for
each) · model_view (all heads side by side) · rollout (attention followed through the layers) · lens (what each layer would say) ·
attribution (who voted for it) · vectors (who is near whom) · lengths (how far a skill reaches) · diagnostics (gradients and activations).

copies (a model of one's own to look into) and module_calls (what each module took and gave) · activations (everything a model computes for
one sentence) · formulas (the paper's, and the lines of code) · arithmetic (written so that a pocket calculator agrees) · derivation (how
one number came to be) · backward (how one number of a gradient did), backward_sublayer (inside of attention, and along the residual
stream) and update (how a parameter moved) · worksheet (the same on paper) · tensors (what is to be seen in one of them) · counting
(parameters and operations) · interventions (heads switched off, attention edited) · differences (what that changed).
"""
