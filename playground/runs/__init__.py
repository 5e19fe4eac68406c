"""Runs: training in the background, kept on disk, looked at by many. The only package with threads, and the only one that writes files.

Read in this order: run (what a run is) · history (its curve) · film and pictures (what is kept to look at) · recording (training, written
down) · files, folder and store (the disk) · scheduler and jobs (turns on the cores) · registry (what the page asks for: `Runs`) · updates
(what it is sent) · reader (what it looks at: `Reader`) · solo and checkpoints (the same without threads).
"""
