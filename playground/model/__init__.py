"""The Transformer, section by section of the paper: masks, positions, attention, layers, transformer;
parts are torch's own without shared randomness, size is what a model costs."""
