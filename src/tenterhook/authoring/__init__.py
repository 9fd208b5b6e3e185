"""Tools for authors of hooks: new hooks from templates, test cases, replay, conversion."""
