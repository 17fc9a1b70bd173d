"""Many phones at once: what drives them, and where their events come from."""
