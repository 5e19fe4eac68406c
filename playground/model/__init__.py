"""The Transformer, section by section of the paper: masks, positions, attention, layers, transformer;
parts are torch's own without shared randomness, routes is what each part holds and costs, size what all of it takes."""
