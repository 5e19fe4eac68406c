"""Reading: uploaded bytes become pairs of sentences. Nothing here depends on models. Read in this order:

text (normalised sentences, and escapes in them) · pairs (the parsed upload and its report) · uploads (from bytes to pairs) · opening (bytes
become sources, and the first reader that recognises them gives the rows; or a data set by its id) · unpacking · encodings with
encoding_guess · formats (one module for each family) · header and column_mapping (which columns) · filtering (which rows) · writing (back
into files).
"""
