"""Lessons: what learners ask, answered by an experiment that they run. Read in this order:

lab (what a lab is) · tensors (worked examples that need no training: every number is there at once) · nn_transformer (torch's own model
with our parameters) · controlled (experiments that train: arms that differ in one thing) · bugs (a broken model beside the right one) and
bug_exhibits (their numbers that no curve shows) · ablations (with and without one part) and judges (which guess was right) · exposure_bias
(teacher forcing and free running, compared) · why_attention (the Transformer beside recurrent models) · rule_or_list (a word that is known
and was never used) · labs (all of them, by name) and thumbnails (small pictures of some) · run_questions (what lessons ask of the run on
screen) · tour (what is asked at its stops) and tour_notes (what is said at them of a model that isn't the paper's) · course (a tour of the
model and thirteen lessons, each with things to do that the page can see) · checks (questions at the end of each, computed from the run and
graded at once).
"""
