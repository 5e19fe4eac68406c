"""Crash-safe storage of runs: a crash at any moment leaves a readable run. Read in this order:

files (atomic writes, validated reads) · folder (a run as a folder) with parameters, replay_file, rounded (a byte per number) and
read_report · saves (the newest of a run, and the one before) · kept (loading, with fallback to the save before) · store (all runs)
· watch (whether the disk responds) · checkpoints (the shipped runs).
"""
