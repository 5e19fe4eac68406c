"""A run taken home: one zip with its model, and all one needs to use it without the playground. Read in this order:

one_file (several of our modules joined into one that needs none of ours) · model_file (model.py of a run) · stand_ins (what that file has
in place of ours) · use (use.py, which loads, translates and draws) · taken (one state of a run) · again (the cells of the notebook) ·
notebook · scores (of the card) · card (README.md) · contents (the files of a run) · archive (the zip they travel in) ·
folder (not zipped) · saving (the command).
"""
