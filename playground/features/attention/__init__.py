"""The Attention tab: every head small, one large, all together, and how they change in training."""
