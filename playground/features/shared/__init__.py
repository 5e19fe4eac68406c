"""What several features share. Read in this order:

queries/ · figures/ · view (the run, step and sentence of a request) · blocks/ (the parts of a panel) · panels (their declaration) · naming
(of runs, knobs, sublayers) · seeds and selected_runs (runs viewed together) · measured (number formats) · heads (one attention head) ·
decoding (one step) · derivation (of one number) · uploading (own sentences) · guessing, exhibits and experiment (of labs).
"""
