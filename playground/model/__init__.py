"""The Transformer, section by section of the paper. Read in this order:

masks (and packing: several sentences in a row) · positions · attention · layers · transformer · parts (torch's own, without shared
randomness) · kv_cache (keys and values of the tokens so far) · copies (other trees of modules over the same parameters) · costs
(parameters, FLOPs and memory, by formula).
"""
