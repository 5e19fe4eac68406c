"""A run as a static folder that a browser opens, from the disk or from any web server: the page with precomputed answers. Read in this
order: plan (which requests are precomputed) · folder (all files).

The scripts are the page's own. Only its server is replaced (ui/static/frozen_server.js) by one that looks answers up.
"""
