"""The Runs tab: several runs side by side, on one sentence, and where they disagree."""
