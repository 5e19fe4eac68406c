"""Is this the Transformer of the paper? Compared with torch.nn, and with itself."""
