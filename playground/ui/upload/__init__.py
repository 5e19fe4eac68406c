"""Own sentences on the page: uploading (files, pasted text) · preview (before anything learns them) · summary (how many, how long)."""
