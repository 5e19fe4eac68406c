"""Turns on the cores. Read in this order:

scheduler (who trains next) with parallel (parts of one step side by side) · orders (what is asked of a job) · jobs (what a turn does) with
saving (when the disk has it) · watchdog (a turn that never ends) · workers (a scheduler for every device) · warmup · train_inline (one run
without any of it).
"""
