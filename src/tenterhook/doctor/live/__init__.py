"""Running a real agent headless, against a scripted model on loopback."""
