"""Twists: a model changed on purpose, outside the model's own code, which stays the paper's.

`bugs` are ways in which people really break it, `variants` what else its parts could have been. The knob `twist` chooses one.
"""

from playground.variants.build import TWISTS, build, twist_of
from playground.variants.variant import Twist

__all__ = ["TWISTS", "Twist", "build", "twist_of"]
