"""One event's hooks made ready and run: in turns, as commands, in the background."""
