"""Labs and the course as panels: labs · experiment (arms side by side) · exhibits · guessing · course."""
