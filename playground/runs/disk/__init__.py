"""Crash-safe storage of runs: a crash at any moment leaves a readable run. Read in this order:

files (atomic writes, validated reads) · folder (a run as a folder) with replay_file (its numbers) · saves (the newest of a
run, and the one before; loading, with fallback) · store (all runs) · watch (whether the disk responds).
"""
