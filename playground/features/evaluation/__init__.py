"""The Evaluation tab: scores, length generalisation, mistakes."""
