"""The map: this very model as one drawing. Read in this order: panel · layout (what stands where) · stage (one that is open) ·
derivation_view (how a number came to be) · worksheet (the same on paper) · tour (a stop of the first lesson).
"""
