"""Runs: training in the background, kept on disk, looked at by many. The only package with threads, and the only one that writes files.

Read in this order: run (what a run is) · history (its curve) · replay and capture (what is kept to look at) · recording (training, written
down) · disk (files, folders, the store) · queue (turns on the cores) · registry (what the page asks for: `Runs`) · updates (what it is
sent). What is asked of a run stands in queries.
"""
