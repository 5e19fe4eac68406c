"""The Class tab: a class's runs, their pooled results, its progress in the course."""
