"""What several features share. Read in this order:

queries/ · figures/ · view (the run, step and sentence of a request; number formats) · blocks/ (the parts of a panel) · panels (their
declaration) · naming (of runs, knobs, sublayers) · selected_runs (runs viewed together) · heads (one attention head) · decoding (one step)
· derivation (of one number) · uploading (own sentences) · labs (a guess, its verdict, exhibits) and experiment (its arms).
"""
