"""The Hugging Face Hub: a trained model for `from_pretrained`; a run, or this app as a Space, goes to the Hub."""
