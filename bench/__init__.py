"""Every figure in the docs comes from here: `python -m bench`."""
