"""Where a model is trained. Read in this order:

trainer (what a run's job asks of an engine) · in_process (in the process that asks).
"""
