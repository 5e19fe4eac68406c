"""Time slices on the cores. Read in this order:

scheduler (fair scheduling) with parallel (parts of one step on several cores) · jobs (the work of a time slice) with saving (periodic
saves) · workers (a scheduler per device, a watchdog for hung turns) · train_inline (runs without threads, such as the shipped
checkpoints).
"""
