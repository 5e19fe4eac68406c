"""Queries to a run: everything that its model computes for a sentence, at any kept step. Read in this order:

reader (the entry point: `Reader`) · results (its return types) · references (right answers and alignments) · copying (source words in
the place of <unk>) · translate · activations ·
teacher_forcing and attribution · interventions · heads · vectors · time_slices (long queries, answered in parts) · validation (one
evaluation of a run at a step) · evaluation · lines (of a file) · lengths · diagnostics · training_step (one, taken apart),
training_rows (its batch) and step_sublayers (inside its sublayers) · probes (the examples that the page follows) · learning_curves and
disagreements (of several runs) · pooled (means over runs) · packing (a row of a training batch).
"""
