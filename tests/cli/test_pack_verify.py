"""`tenterhook pack verify`: a changed store, a machine without one, signatures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cli.packs_in_use import decision, other_person
from packs.repositories import PackRepository, new_key
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path


def test_verify_tells_a_changed_store_and_repairs_it(pack: PackRepository, repository: Path, home: Path) -> None:
    assert tenterhook("pack", "verify").returncode == 0
    script = next((home / ".local/share/tenterhook/packs").glob("*/no-deploy/scripts/run.sh"))
    script.chmod(0o755)
    script.write_text("#!/bin/sh\nexit 0\n")
    wrong = tenterhook("pack", "verify")
    assert wrong.returncode == 1
    assert "its files are not those of hooks.lock" in wrong.stdout
    assert decision() == "none"
    assert tenterhook("pack", "verify", "--fetch").returncode == 0
    assert decision() == "deny"


def test_verify_on_a_machine_without_a_store_needs_a_signature_where_one_is_required(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    key, other = new_key(tmp_path / "key"), new_key(tmp_path / "stranger")
    pack.commit("v1.1.0", key=key)
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    ci = other_person(home)
    missing = tenterhook("pack", "verify", "--project", env=ci)
    assert missing.returncode == 1
    assert "it is not in the store" in missing.stdout
    good = tenterhook("pack", "verify", "--project", "--fetch", "--signer", f"{key}.pub", "--json", env=ci)
    assert (good.returncode, json.loads(good.stdout)["packs"][0]["problem"]) == (0, None)
    bad = tenterhook("pack", "verify", "--project", "--fetch", "--signer", f"{other}.pub", env=ci)
    assert bad.returncode == 1
    assert "not signed by a key that you trust" in bad.stdout
