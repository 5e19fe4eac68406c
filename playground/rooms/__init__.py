"""Rooms of a class: who is in, and where the teacher looks. Names stay in their room, and everything goes on the room's last day."""
