"""The Translate tab: all decoding methods."""
