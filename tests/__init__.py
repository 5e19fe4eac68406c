"""The promises of the playground as tests; the folders mirror playground/."""

import playground  # noqa: F401  before torch and numpy: it says how their threads wait
