"""The Transformer, section by section of the paper. Read in this order:

masks · positions · attention · layers · transformer · padding (sentences in one rectangle) · parts (torch's own, without shared
randomness) · kv_cache (keys and values that are kept while a sentence grows) · sublayers (what each part holds and costs) · size (what all
of it takes) · shared_copy (another tree of modules over the same parameters).
"""
