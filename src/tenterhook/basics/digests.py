"""`blake2b` and `sha256` without `hashlib`, which loads OpenSSL: 10 ms while an agent waits."""

from __future__ import annotations

try:
    from _blake2 import blake2b as blake2b  # noqa: PLC0414  # exported
except ImportError:
    from hashlib import blake2b as blake2b  # noqa: PLC0414
try:
    from _sha2 import sha256 as sha256  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0414
except ImportError:
    try:
        from _sha256 import sha256 as sha256  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0414  # before Python 3.12
    except ImportError:
        from hashlib import sha256 as sha256  # noqa: PLC0414
