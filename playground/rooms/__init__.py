"""Rooms of a class: its members and the teacher's cursor. Names stay in their room; all of it is deleted on the room's last day. Read in
this order:

room (the stored object, and what a teacher sets in it: restrictions, the current task, limits on runs) · activities (what a class does
together) · question (the class's guess) · experiment (arms dealt to members) · answers (to the questions that end its lessons, and progress
in the course) · store (all rooms, in memory and on the disk, and the open pages) · registry (all of them: `Rooms`, and what they allow a
new run).
"""
