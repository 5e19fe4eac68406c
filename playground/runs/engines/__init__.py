"""Where a model is trained. Read in this order:

trainer (what a run's job asks of an engine) · in_process (in the process that asks) · increment (what a training elsewhere tells) · hosted
(one such training) · host (all of a process) · remote (a trainer who asks a host) · children with preloaded (processes beside the page's)
· cluster and ray_driver (processes on other machines) · choice (which of them a run begins on).
"""
