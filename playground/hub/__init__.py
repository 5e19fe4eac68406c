"""The Hugging Face Hub. Read in this order:

model (a trained model for `from_pretrained`) · remote (uploads to the Hub, such as a run, and their errors) · space (uploads this app as a
Space)
"""
