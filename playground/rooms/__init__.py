"""Rooms of a class: who is in, and where the teacher looks. Names stay in their room, and everything goes on the room's last day. Read in
this order:

room (what one is) · activities (what a class does together) · question (what it guesses) · experiment (arms that are dealt out) · progress
(in the course) · answers (to the questions that end its lessons) · store (on the disk) · events (who listens) · attempts (how often
somebody may try) · fixed (what holds for the class) · assignment (what there is to do now) · run_limits (how many runs) · kept (the rooms
there are) · teaching (what the teacher does) · registry (all of them: `Rooms`) · rules (what all this means for a new run).
"""
