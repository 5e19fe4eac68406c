"""Lessons: students' questions, answered by experiments that they run. Read in this order:

lab (the structure of a lab) · controlled (experiments that train: arms that differ in one setting) · labs (a folder each: worked examples
on tensors, the bug museum, the ablations, and larger experiments) · tour (readings at its stops, and differences from the paper's model) ·
lesson (what a lesson is, with steps that the page can observe and questions about the run on screen) · course (the lessons in their order,
the paths through them, and the labs of each) · checks (final questions of a lesson, computed from the run and graded at once).
"""
