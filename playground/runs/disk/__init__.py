"""Crash-safe storage of runs: a crash at any moment leaves a readable run. Read in this order:

files (atomic writes, validated reads) · folder (a run as a folder) with replay_file (its numbers) · saves (the newest of a
run, and the one before; loading, with fallback) · store (all runs) · watch (whether the disk responds).
"""

import os
import re
from pathlib import Path

FORMAT = 1  # of run.json
_PACKAGE, _ROOT = Path(__file__).parents[2:4]
# The shipped runs: inside the package when installed, beside it in a clone.
SHIPPED = (_PACKAGE if (_PACKAGE / "checkpoints").is_dir() else _ROOT) / "checkpoints"
ID = re.compile(r"[A-Za-z0-9_-]{16,64}")  # of a saved run, and its folder's name


def default_folder() -> Path:
    """Returns PLAYGROUND_DATA, or a folder in the user's home."""
    return Path(os.environ.get("PLAYGROUND_DATA") or Path.home() / ".local/share/transformer-playground")
