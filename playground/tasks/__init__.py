"""Toy tasks: small languages with known answers to every sentence. Standard library only. Read in this order:

example (the interface of a task) · sequences, numbers (tasks about symbols) · grammars (two languages from one set of rules) ·
german, meanings, chinese, commands (small languages) · toy_tasks (all of them by name, and their splits).
"""
