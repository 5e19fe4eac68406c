"""Reading: the bytes that people bring become pairs of sentences. Nothing here knows of models. Read in this order:

text (what a sentence is) · pairs (what was understood) · uploads (from bytes to pairs) · opening (the bytes become sources, and the first
reader that knows them gives the rows) · unpacking · encodings with charsets and encoding_guess · formats (one module for each family) ·
header and column_mapping (which columns) · filtering (which rows) · hub (a data set by its id) · writing (back into files).
"""
