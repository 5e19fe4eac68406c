"""Variants: a model changed on purpose, outside the model's own code, which stays the paper's.

`bugs` are ways in which people really break it, `alternatives` what else its parts could have been. Which there are is declared in
playground/choices.py; the knob `variant` chooses one.
"""

from playground.variants.build import ALL, build, variant_of
from playground.variants.variant import Variant

__all__ = ["ALL", "Variant", "build", "variant_of"]
