"""Export of a run: one zip with its model and everything needed to use it without the playground. Read in this order:

one_file (joins several of our modules into one that imports none of ours) · model_file (model.py of a run) · use (use.py, which loads,
translates and draws) · exported_run (one state of a run) · again (the cells of the notebook) · notebook · card (README.md) · contents (the
files of a run, as a zip or a folder).
"""
