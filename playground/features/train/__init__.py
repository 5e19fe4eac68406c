"""The Training tab: the curves of a run beside its attention."""
