"""Labs and the course as panels. Read in this order: labs · guessing · experiment (arms side by side) · exhibits · checks (questions at a
lesson's end) · course · room_result (a class's guesses)."""
