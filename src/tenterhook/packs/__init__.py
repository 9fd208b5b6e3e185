"""Packs of hooks: fetching them with git, the store of their bytes, and changes to `hooks.toml` and `hooks.lock`."""
