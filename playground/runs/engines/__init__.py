"""Training engines. Read in this order:

trainer (the interface, and training in the calling process) · host (all trainings of a process, and their progress reports) · children with
preloaded (processes besides the page's) · choice (the client of a host, and which engine trains a run, if not one on other machines:
playground/ray).
"""
