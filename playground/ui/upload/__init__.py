"""Own sentences on the page. Read in this order:

uploading (files, pasted text) · listeners (what the box does) · preview (before anything learns them) · warnings (what would spoil it) ·
summary (how many, how long).
"""
