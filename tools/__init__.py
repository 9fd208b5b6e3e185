"""Tools that generate documentation, and check it and the wheel."""
