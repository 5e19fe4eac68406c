"""The Hugging Face Hub. Read in this order:

model (a trained model that `from_pretrained` reads back) · push (a run becomes a repository) · space (this very app becomes a Space) ·
commands (both for the command line) · remote (what both ask of the Hub, and what it can answer)
"""
