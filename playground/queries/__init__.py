"""What is asked of a run: everything that its model computes for a sentence, at any kept step. Read in this order:

reader (looking into a run: `Reader`) · results (what comes back) · references (what would be right) · copying (what stands for
<unk>) · translate · activations ·
teacher_forcing and attribution · interventions · heads · vectors · time_slices (long questions, answered in parts) · validation (one
evaluation of a run at a step) · evaluation · lines (of a file) · lengths · diagnostics · training_step (one, taken apart),
training_rows (its batch) and step_sublayers (inside of its sublayers) · probes (the examples that the page follows) · learning_curves and
disagreements (of several runs) · pooled (what several come to together) · packing (a row of a training batch).
"""
