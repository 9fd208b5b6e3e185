"""The hooks of a project: layers of folders, named files, and whether their owner trusts them."""
