"""The Map tab: the model as one drawing, any number with its derivation; and the paper's figure 1 beside every tab."""
