"""Lock and trust the packs whose repositories are named, in the home of this process."""

from __future__ import annotations

import sys

from tenterhook.catalog import catalog, source_trust
from tenterhook.catalog.packs import NamedPack
from tenterhook.packs import declarations, store

if __name__ == "__main__":
    directory = catalog.directories("/")[1]
    for source in sys.argv[1:]:
        locked = store.fetch(source, "v1", "user")
        source_trust.approve(locked)
        declared = declarations.read(directory, "user")
        declarations.write(declared, source, (NamedPack(source, "v1"), locked))
