"""Labs and the course as panels. Read in this order: labs · guessing · experiment (arms side by side) · exhibits · checks (what
a lesson asks at its end) · course · room_result (what a class guessed)."""
