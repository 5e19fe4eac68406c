"""The Embeddings tab: the vectors of tokens and of states."""
