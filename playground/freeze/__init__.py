"""A run as a folder of files that a browser opens, from the disk or from any web server: the page, and the answers to what can be asked on
it. Read in this order:

grids, lessons and plan (what is asked beforehand) · packing (answers that share what they have in common) · scripts (what the page loads) ·
folder (all files).

The folder's script is the page's own. Only its server is another one (ui/static/frozen_server.js): it looks answers up.
"""
