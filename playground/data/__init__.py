"""Sentences in, batches out. Read in this order: tokenizers · corpus · lazy_sequence · batches · statistics ·
readable (what of a typed sentence a model can read) · facts and suggestion (what own pairs are like, and which settings suit them)."""
