"""A model changed on purpose, outside the model's own code, which stays the paper's. The knob `variant` chooses how. Read in this order:

variant (what a change may touch) · mask_bugs and bugs (ways in which people really break it) · alternatives (what else its parts could
have been) · recurrent (what stood in the place of its layers before) · build (the paper's model, then its change).

Which variants there are is declared in playground/choices.py.
"""

from playground.variants.build import ALL, build, variant_of
from playground.variants.variant import Variant

__all__ = ["ALL", "Variant", "build", "variant_of"]
