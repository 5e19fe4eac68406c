"""Sentences in, batches out. Read in this order: tokenizers · corpus · batches · statistics · readable (unknown tokens of a typed sentence,
and known ones instead) · suggestion and warnings (of own pairs: suitable settings, likely problems)."""
