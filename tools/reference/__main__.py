"""Write the generated pages."""

from __future__ import annotations

from tools.reference import pages

for file, text in pages().items():
    file.write_text(text)
    print(f"written: docs/{file.name}")
