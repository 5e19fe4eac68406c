"""Lessons: students' questions, answered by experiments that they run. Read in this order:

lab (the structure of a lab) · tensors (worked examples without training) · nn_transformer (torch's own model with our parameters) ·
controlled (experiments that train: arms that differ in one setting) · bugs (a broken model beside the correct one) and bug_exhibits (their
numbers beyond the curves) · ablations (with and without one part) and judges (the guess that results support) · exposure_bias (teacher
forcing and free running, compared) · why_attention (the Transformer beside recurrent models) · rule_or_list (a known word that was never
used) · labs (all of them, by name) and thumbnails (small pictures of some) · run_questions (lessons' questions about the run on screen) ·
tour (readings at its stops) and tour_notes (differences from the paper's model) · course (a tour of the model and thirteen lessons, with
steps that the page can observe) · checks (final questions of a lesson, computed from the run and graded at once).
"""
