"""Queries to a run that several features need. Read in this order:

reader (the entry point: `Reader`) · results (its return types, and right answers) · activations · validation (one evaluation of a run at a
step, in time slices; learning curves). They need neither Gradio nor Plotly.
"""
