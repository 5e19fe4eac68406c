"""Own sentences on the page. Read in this order:

uploading (files, pasted text) · listeners (of the upload box) · preview (before training) · warnings (likely spoilers) · summary (counts
and lengths).
"""
