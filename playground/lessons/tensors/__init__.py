"""Worked examples on tensors: labs without training. Each computes a few small tensors, shows every number, and draws a conclusion."""
