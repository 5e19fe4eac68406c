"""Toy tasks: small languages whose every sentence has known answers. Standard library only. Read in this order:

example (what a task is) · sequences, numbers, dates (tasks about symbols) · grammars (two languages from one set of rules) · german,
meanings, chinese, commands (the small languages) · toy_tasks (all of them, by name, and their splits).
"""
