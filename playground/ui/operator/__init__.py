"""What whoever runs the server sees of it, where PLAYGROUND_OPERATOR holds a token; else there is no such page. Read in this order:

entry (who may see it) · facts (what there is to see) · page (how it looks) · metrics (the same for Prometheus) · routes (how it is asked
for).
"""
