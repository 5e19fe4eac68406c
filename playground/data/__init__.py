"""Sentences in, batches out. Read in this order:

example (what a task is) · tasks (every toy task, by name) · sequences, numbers, dates (tasks about symbols) · grammars (two languages
from one set of rules) · german, meanings, chinese, commands (the small languages) · text, tokenizers · corpus ·
batches · statistics.

A visitor's own pairs: uploads (from bytes to pairs) · opening (unpacking, encodings with charsets and guessing) · formats (one module for
each family) · choosing (which columns) · sifting (which rows) · hub (a data set by its id) · writing (back into files).
"""
