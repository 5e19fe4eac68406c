"""Worked examples on tensors: labs that train nothing. Each computes a few small tensors, shows every number, and says what they bear out.

Read in this order: softmax · masks · positions · shapes · products · vocabulary · feedforward · norms · residuals · loss · nn_transformer.
"""
