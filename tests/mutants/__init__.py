"""Proof that the gate's tests keep the truths: small faults made by rule, each of which a test must notice. See `__main__.py`."""
