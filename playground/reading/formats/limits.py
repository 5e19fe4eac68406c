"""Limits: how much is read of what people bring, each number declared once."""

BYTE_LIMIT = 20 * 1024**2  # all files of one upload together
UNPACKED_LIMIT = 50 * 1024**2  # bytes, counted while they are unpacked
MEMBER_LIMIT = 100  # files in one archive
LINE_LIMIT = 10_000  # characters a line may have to become a pair
ENDLESS = 100_000  # characters: a file with such a line has lost its line ends
MAX_LINES = 400_000  # or rows, or items, that are looked at
COLUMN_LIMIT = 64
PAIR_LIMIT = 200_000
JSON_LIMIT = 64_000_000  # bytes in UTF-8 of what is kept of an upload, or of anything else beside a run: what is larger is never opened
SECONDS = 10  # for the whole reading
MEMORY_LIMIT = 300 * 1024**2  # bytes, for the whole reading
SAMPLE = 1000  # lines looked at to recognise a format
