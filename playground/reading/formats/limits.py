"""Limits of what is read of an upload, each declared once."""

BYTE_LIMIT = 20 * 1024**2  # all files of one upload together
UNPACKED_LIMIT = 50 * 1024**2  # bytes, counted while unpacking
MEMBER_LIMIT = 100  # files in one archive
LINE_LIMIT = 10_000  # characters in a line of a pair
ENDLESS = 100_000  # characters: a file with such a line has lost its line ends
MAX_LINES = 400_000  # or rows, or items
COLUMN_LIMIT = 64
PAIR_LIMIT = 200_000
JSON_LIMIT = 64_000_000  # bytes of UTF-8 of a saved upload, or of any other file of a run; larger files are never opened
SECONDS = 10  # timeout of the whole reading
MEMORY_LIMIT = 300 * 1024**2  # bytes, for the whole reading
SAMPLE = 1000  # lines examined to recognise a format
