"""Sentences in, batches out. Read in this order:

example (what a task is) · tasks (every toy task, by name) · sequences, numbers, dates (tasks about symbols) · grammars (two languages
from one set of rules) · german, meanings, chinese, commands (the small languages) · uploads (a visitor's own pairs) · text, tokenizers ·
corpus · batches.
"""
