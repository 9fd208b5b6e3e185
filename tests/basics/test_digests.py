"""Digests without `hashlib`."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from tenterhook.basics import digests

SOURCE = Path(digests.__file__).parents[2]


def test_they_are_those_of_hashlib() -> None:
    for data in (b"", b"a", b"\0" * 1000):
        assert digests.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
        assert digests.blake2b(data, digest_size=16).hexdigest() == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_openssl_is_not_loaded() -> None:
    code = "import sys; sys.path.append(sys.argv[1]); import tenterhook.basics.digests; "
    code += "print('_hashlib' in sys.modules)"
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(SOURCE)], capture_output=True, check=True)
    assert ended.stdout.strip() == b"False"
