"""Tensors on the bench: labs that train nothing. Each computes a few small tensors, shows every number, and says what they bear out."""
