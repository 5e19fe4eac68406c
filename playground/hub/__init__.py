"""The Hugging Face Hub. Read in this order:

model (a trained model for `from_pretrained`) · push (uploads a run as a repository) · space (uploads this app as a Space) · commands (both
for the command line) · remote (requests to the Hub, and their errors)
"""
