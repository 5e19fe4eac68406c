"""Crash-safe storage of runs: a crash at any moment leaves a readable run. Read in this order:

files (atomic writes, validated reads) · folder (a run as a folder) with replay_file (its numbers) · saves (the newest of a
run, and the one before; loading, with fallback) · store (all runs) · watch (whether the disk responds).
"""

from pathlib import Path

FORMAT = 1  # of run.json
_PACKAGE, _ROOT = Path(__file__).parents[2:4]
# The shipped runs: inside the package when installed, beside it in a clone.
SHIPPED = (_PACKAGE if (_PACKAGE / "checkpoints").is_dir() else _ROOT) / "checkpoints"
