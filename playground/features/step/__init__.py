"""The Step tab: one training step in slow motion."""
