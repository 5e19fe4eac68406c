"""Backup of a store: check it, export it as one file, and import it again. Read in this order:

checking (verifies every save and every room) · archive (a tar of plain files only) · exporting (a snapshot of all runs and rooms) ·
importing (adds what is whole and new).
"""
