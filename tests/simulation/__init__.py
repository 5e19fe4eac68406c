"""A whole server, simulated: its clock, threads, disk and processes are moved by a seed. See world.py and story.py."""
