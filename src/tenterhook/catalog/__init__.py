"""Finds and loads the hooks of a project, from layers of folders and named files, and checks that they are trusted."""
