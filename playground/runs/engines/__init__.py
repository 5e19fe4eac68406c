"""Training engines. Read in this order:

trainer (the interface, and training in the calling process) · increment (progress reports of a remote training) · host (all of a process)
· remote (the client of a host) · children with preloaded (processes besides the page's) · choice (which engine
trains a run, if not one on other machines: playground/ray).
"""
