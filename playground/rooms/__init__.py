"""Rooms of a class: its members and the teacher's cursor. Names stay in their room; all of it is deleted on the room's last day. Read in
this order:

room (the stored object) · activities (what a class does together) · question (the class's guess) · experiment (arms dealt to members) ·
progress (in the course) · answers (to the questions that end its lessons) · store (on the disk) · events (notifies open pages) · attempts
(rate limit) · fixed (settings fixed for the class) · assignment (the current task) · run_limits (how many runs) · saved (all rooms in
memory and on the disk) · teaching (the teacher's actions) · registry (all of them: `Rooms`) · rules (what rooms allow a new run).
"""
