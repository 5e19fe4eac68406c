"""The Hugging Face Hub. Read in this order:

model (a trained model for `from_pretrained`) · uploads (a run, or this app as a Space, to the Hub; and their errors)
"""
