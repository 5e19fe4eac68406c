"""A store as a whole: looked through, taken along as one file, and brought back. Read in this order:

checking (what every save and every room is worth) · archive (a tar of plain files, and nothing else) · exporting (all runs and rooms as
they are at one moment) · importing (what is whole and new comes in).
"""
