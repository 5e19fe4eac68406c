"""The Positions tab: encodings of positions."""
