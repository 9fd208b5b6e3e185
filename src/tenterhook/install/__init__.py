"""Writing a person's settings files, and leaving them as they were found."""
