"""Sentences in, batches out. Read in this order: tokenizers · corpus · lazy_sequence · batches · statistics · readable (unknown tokens of a
typed sentence, and known ones instead) · facts, suggestion and warnings (properties of own pairs, suitable settings, likely problems)."""
