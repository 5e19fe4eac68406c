"""The Course and Labs tabs, the questions at the end of a lesson, and the guesses of a class."""
