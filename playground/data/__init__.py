"""Sentences in, batches out. Read in this order: tokenizers · corpus · batches · readable (unknown tokens of a typed
sentence, and known ones instead) · suggestion (of settings for own pairs) and warnings (statistics of a corpus, likely problems)."""
