"""Model variants: deliberate changes outside the model's own code, which stays the paper's. The knob `variant` chooses one. Read in this
order:

variant (the base class) · bugs (common mistakes) · alternatives (other choices for parts of the paper's model) ·
recurrent (GRUs in the place of its layers) · build (the paper's model, then its change). All are declared in playground/choices.py.
"""

from playground.variants.build import ALL, build, variant_of
from playground.variants.variant import Variant

__all__ = ["ALL", "Variant", "build", "variant_of"]
