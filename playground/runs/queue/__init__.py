"""Time slices on the cores. Read in this order:

scheduler (fair scheduling) with parallel (parts of one step on several cores) · orders (requests to a job) · jobs (the work of a
time slice) with saving (periodic saves) · watchdog (hung turns) · workers (a scheduler per device) · warmup · train_inline (one run
without threads).
"""
