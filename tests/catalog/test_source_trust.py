"""Trust in sources of packs: by revision and bytes, by the key that signed, and its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tenterhook.catalog import source_trust
from tenterhook.catalog.packs import LockedHook, LockedPack
from tenterhook.model import Hook

if TYPE_CHECKING:
    from pathlib import Path

PACK = LockedPack("p", "https://example.org/p", "v1", "c1", "t1", (LockedHook("guard", "d1", "pre-tool-call"),))


def objection(pack: LockedPack = PACK, digest: str = "d1") -> str | None:
    about = {"source": pack.source, "rev": pack.rev, "commit": pack.commit, "tree": pack.tree, "digest": digest}
    return source_trust.objection(
        Hook("guard", "pre-tool-call", "pre-tool-call", "folder", folder="/store/t1/guard", pack=about)
    )


def test_a_source_is_trusted_at_one_revision_and_for_its_bytes() -> None:
    assert objection() == "the source https://example.org/p is not trusted"
    source_trust.approve(PACK)
    assert objection() is None
    assert objection(PACK._replace(commit="c2", rev="v2")) == "v2 of https://example.org/p is not trusted"
    assert objection(digest="d2") == "v1 of https://example.org/p is not trusted", "a lock cannot name other bytes"


def test_with_a_key_only_revisions_that_it_signed_are_trusted() -> None:
    source_trust.approve(PACK)
    source_trust.add_signer(PACK.source, "key")
    assert objection() == "v1 of https://example.org/p is not signed by a key that you trust"
    source_trust.approve(PACK, "key")
    assert objection() is None


def test_trust_that_ended_is_gone_everywhere() -> None:
    source_trust.approve(PACK)
    assert source_trust.revoke(PACK.source)
    assert not source_trust.revoke(PACK.source)
    assert objection() is not None


def test_records_that_others_could_have_written_do_not_count(home: Path) -> None:
    source_trust.approve(PACK)
    os.chmod(source_trust.path(), 0o666)
    assert objection() is not None


def test_broken_records_trust_nothing_and_are_kept() -> None:
    source_trust.approve(PACK)
    broken = "{" + "x" * 100
    with open(source_trust.path(), "w") as file:
        file.write(broken)
    assert objection() is not None
    source_trust.approve(PACK)
    assert objection() is None
    with open(f"{source_trust.path()}.broken") as file:
        assert file.read() == broken
