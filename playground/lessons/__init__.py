"""Lessons: what learners ask, answered by an experiment that they run. Read in this order:

lab (what a lab is) · tensors (labs that need no training: every number is there at once) · labs (all of them, by name) ·
asked (what lessons ask of the run on screen) · course (twelve lessons, each with things to do that the page can see).
"""
