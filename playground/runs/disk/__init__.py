"""Runs on disk, so that a crash at any moment leaves a run that can be read. Read in this order:

files (written whole, read with suspicion) · folder (a run as a folder) with parameters, replay_file, rounded (a byte per number) and
read_report · saves (the newest of a run, and the one before) · kept (read back, the one before where the newest is damaged) · store (all of
them) · watch (whether the disk answers) · checkpoints (those that ship with the app).
"""
