"""Labs and the course as panels. Read in this order: labs · guessing · experiment (arms side by side) · exhibits · course
· room_result (what a class guessed)."""
