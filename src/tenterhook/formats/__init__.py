"""How hooks are written down and spoken to: folder, table and array."""
