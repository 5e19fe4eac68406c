"""The Teacher forcing tab: teacher forcing and free running side by side."""
