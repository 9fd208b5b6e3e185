"""`hooks.toml` and `hooks.lock` of a directory: changed together, the rest of the file kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.catalog.packs import LockedHook, LockedPack, NamedPack
from tenterhook.errors import HookError
from tenterhook.packs import declarations

if TYPE_CHECKING:
    from pathlib import Path

LOCKED = LockedPack("p", "https://example.org/p.git", "v1", "c", "t", (LockedHook("guard", "d", "pre-tool-call"),))
NAMED = NamedPack(LOCKED.source, "v1", ("guard",), {"guard": {"hosts": ["a"]}})


def test_a_pack_is_added_changed_and_removed_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "hooks.toml"
    file.write_text("# mine\n[hooks]\ndebug = false  # as usual\n")
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, (NAMED, LOCKED))
    assert declarations.read(str(tmp_path), "user").packs == ((NAMED, LOCKED),)
    newer = LOCKED._replace(rev="v2", commit="c2")
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, (NAMED._replace(rev="v2"), newer))
    assert declarations.read(str(tmp_path), "user").packs == ((NAMED._replace(rev="v2"), newer),)
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, None)
    assert file.read_text() == "# mine\n[hooks]\ndebug = false  # as usual\n"
    assert not (tmp_path / "hooks.lock").exists()


def test_a_pack_is_found_by_name_or_source(tmp_path: Path) -> None:
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, (NAMED, LOCKED))
    declared = declarations.read(str(tmp_path), "user")
    assert declared.named("p") == declared.named(LOCKED.source) == (NAMED, LOCKED)
    with pytest.raises(HookError, match="its packs: p"):
        declared.named("q")


def test_what_another_command_wrote_meanwhile_stays(tmp_path: Path) -> None:
    """A question may be open for long, and a second terminal beside it."""
    seen = declarations.read(str(tmp_path), "user")
    other = LOCKED._replace(name="q", source="https://example.org/q.git", tree="u")
    declarations.write(declarations.read(str(tmp_path), "user"), other.source, (NamedPack(other.source, "v1"), other))
    declarations.write(seen, LOCKED.source, (NAMED, LOCKED))
    assert [locked for _, locked in declarations.read(str(tmp_path), "user").packs] == [other, LOCKED]


def test_hooks_that_two_packs_have_are_told(tmp_path: Path) -> None:
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, (NAMED, LOCKED))
    declared = declarations.read(str(tmp_path), "user")
    other = LOCKED._replace(source="other")
    with pytest.raises(HookError, match="the pack p has a hook called guard too"):
        declarations.refuse_same_names(declared, NamedPack("other"), other, "leave it out")
    declarations.refuse_same_names(declared, NamedPack("other", only=()), other, "leave it out")


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD\n", "schema = 1\n[[packs]]\nname = "])
def test_a_broken_lock_is_repaired_from_what_was_in_force(tmp_path: Path, text: str) -> None:
    declarations.write(declarations.read(str(tmp_path), "user"), LOCKED.source, (NAMED, LOCKED))
    (tmp_path / "hooks.lock").write_text(text)
    with pytest.raises(HookError, match="tenterhook pack update"):
        declarations.read(str(tmp_path), "user")
    repaired = declarations.read(str(tmp_path), "user", repairs=True)
    assert repaired.packs == ((NAMED, LOCKED),)
    assert repaired.broken
