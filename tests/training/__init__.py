"""Does it learn as it should, and the same way every time?"""
