"""Sentences in, batches out. Read in this order: tokenizers · corpus · lazy_sequence · batches · statistics."""
