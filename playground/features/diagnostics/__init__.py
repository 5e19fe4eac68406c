"""The Diagnostics tab: gradients, activations and costs of every sublayer."""
