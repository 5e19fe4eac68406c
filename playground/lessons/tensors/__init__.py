"""Worked examples on tensors: labs that train nothing. Each computes a few small tensors, shows every number, and says what they bear out.

Read in this order: softmax · masks · padding_sides · permutation · positions · numbering · rotary · shapes · products · vocabulary · bpe ·
feedforward · norms · layer_norm · residuals · dropout · loss · layouts · nn_transformer.
"""
