"""Features: a folder for each tab of the page, found by itself (registry.py).

query.py asks a run and knows no figures; figure.py turns arrays into figures; panel.py declares the panel (shared/panels.py), a function of
a view that returns blocks, and `__init__.py` the kinds of blocks that only this tab has; en.json and zh.json are its sentences. Longer ones
have more modules, named alike: `lengths_query.py` is a query. What two features need is in shared/: no feature imports another.
"""
