"""The Transformer, section by section of the paper. Read in this order:

masks · positions · attention · layers · transformer · padding (sentences as one rectangle) · parts (torch's own, without shared
randomness) · kv_cache (keys and values of the tokens so far) · sublayers (parameters and FLOPs of each part) · size (memory of a training)
· shared_copy (another tree of modules over the same parameters).
"""
