"""Sentences in, batches out. Read in this order: tokenizers · corpus · lazy_sequence · batches · statistics ·
readable (what of a typed sentence a model can read) · facts, suggestion and warnings (what own pairs are like, which settings suit
them, and what would spoil a training)."""
