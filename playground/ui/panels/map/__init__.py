"""The map: the model as one drawing. Read in this order: panel · layout (the position of each stage) · stage (the open one) ·
derivation_view (the arithmetic of a number) · worksheet (the same on paper) · tour (a stop of the first lesson)."""
