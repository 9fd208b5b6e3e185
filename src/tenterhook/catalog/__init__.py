"""Where hooks come from: layers of folders, named files, and whether their owner trusts them."""
