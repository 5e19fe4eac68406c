"""The operator's page, present only if PLAYGROUND_OPERATOR holds a token. Read in this order:

entry (authentication) · facts (its data) · page (its HTML) · metrics (the same for Prometheus) · routes (its addresses).
"""
