"""Queries to a run that several features need. Read in this order:

reader (the entry point: `Reader`) · results (its return types, and right answers) · activations · time_slices (long queries, answered in
parts) · validation (one evaluation of a run at a step) · learning_curves. They need neither Gradio nor Plotly.
"""
