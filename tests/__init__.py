"""What the playground promises, said as tests; the folders mirror playground/."""
