"""Own sentences on the page. Read in this order:

uploading (files, pasted text) · preview (before training, with warnings) · summary (counts and lengths).
"""
