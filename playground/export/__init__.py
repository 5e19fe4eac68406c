"""Export of a run: one zip with its model and everything needed to use it without the playground. Read in this order:

sources (joins several of our modules into one that imports none of ours: model.py and use.py) · use (use.py, which loads, translates and
draws) · exported_run (one state of a run) · documents (README.md and the notebook) · contents (the files of a run, as a zip or a folder).
"""
