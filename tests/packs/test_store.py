"""The store: what is fetched, what is refused, and that nothing of a pack is run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from packs.repositories import PackRepository, git, write_hook
from tenterhook import __version__
from tenterhook.catalog import packs
from tenterhook.errors import HookError
from tenterhook.packs import store
from tenterhook.packs.git import Repository
from tenterhook.packs.store import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_hooks_are_stored_read_only_with_a_hash_for_each(pack: PackRepository, home: Path) -> None:
    pack.hook("no-prod", "prod", metadata="on_failure: block")
    commit = pack.commit("v1.1.0")
    locked = store.fetch(pack.source, "v1.1.0", "user")
    tree = git(pack.path, "rev-parse", "HEAD^{tree}")
    assert (locked.name, locked.commit, locked.tree) == ("agent-hooks", commit, tree)
    assert [(hook.name, hook.event, hook.pattern, hook.closed) for hook in locked.hooks] == [
        ("no-deploy", "pre-tool-call", "deploy", False),
        ("no-prod", "pre-tool-call", "prod", True),
    ]
    folder = home / ".local/share/tenterhook/packs" / locked.tree / "no-prod"
    assert packs.difference(str(folder), locked.hooks[1].digest) is None
    assert oct(os.stat(folder / "scripts/run.sh").st_mode & 0o777) == "0o555"
    assert oct(os.stat(folder / "HOOK.md").st_mode & 0o777) == "0o444"
    assert not any(os.stat(each).st_mode & 0o222 for each in (folder.parent, folder, folder / "scripts"))
    assert store.fetch(pack.source, "v1.1.0", "user") == locked, "the same again"


def test_a_folder_without_git_is_a_pack_too(tmp_path: Path) -> None:
    write_hook(tmp_path / "plain" / "no-deploy", "deploy")
    first = store.fetch(str(tmp_path / "plain"), "", "user")
    assert first.commit == ""
    write_hook(tmp_path / "plain" / "no-deploy", "deploy", reason="otherwise")
    assert store.fetch(str(tmp_path / "plain"), "", "user").tree != first.tree
    with pytest.raises(HookError, match="is not a git repository"):
        store.fetch(str(tmp_path / "plain"), "v1", "user")


def test_a_damaged_store_is_repaired_by_fetching(pack: PackRepository) -> None:
    locked = store.fetch(pack.source, "v1.0.0", "user")
    script = f"{packs.store('user')}/{locked.tree}/no-deploy/scripts/run.sh"
    os.chmod(script, 0o755)
    with open(script, "a") as file:
        file.write("exit 0\n")
    assert packs.difference(os.path.dirname(os.path.dirname(script)), locked.hooks[0].digest)
    store.fetch(pack.source, "v1.0.0", "user")
    assert packs.difference(os.path.dirname(os.path.dirname(script)), locked.hooks[0].digest) is None


def _submodule(pack: PackRepository) -> None:
    PackRepository(pack.path / "hooks/no-deploy/lib").commit()


def _submodule_of_hooks(pack: PackRepository) -> None:
    PackRepository(pack.path / "hooks/others").commit()


def _all_in_a_submodule(pack: PackRepository) -> None:
    _empty(pack)
    PackRepository(pack.path / "vendor").commit()


def _hook_is_a_link(pack: PackRepository) -> None:
    (pack.path / "hooks/other").symlink_to("../elsewhere")


def _pack_file_is_a_link(pack: PackRepository) -> None:
    (pack.path / "pack.toml").symlink_to("/etc/passwd")


def _link_to_a_parent(pack: PackRepository) -> None:
    (pack.path / "hooks/no-deploy/scripts/above").symlink_to("../..")


def _definition_is_a_link(pack: PackRepository) -> None:
    (pack.path / "hooks/no-deploy/HOOK.md").rename(pack.path / "HOOK.md.txt")
    (pack.path / "hooks/no-deploy/HOOK.md").symlink_to("../../HOOK.md.txt")


def _much_data(pack: PackRepository) -> None:
    with (pack.path / "hooks/no-deploy/data").open("wb") as file:
        file.truncate(17 * 1024 * 1024)


def _in_pack_file(text: str) -> Callable[[PackRepository], None]:
    def change(pack: PackRepository) -> None:
        (pack.path / "pack.toml").write_text(text)

    return change


def _link(pack: PackRepository) -> None:
    (pack.path / "hooks/no-deploy/lib").symlink_to("../../secrets")


def _git_lfs(pack: PackRepository) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    (pack.path / "hooks/no-deploy/scripts/run.sh").write_text(text)


def _line_endings(pack: PackRepository) -> None:
    (pack.path / "hooks/no-deploy/scripts/run.sh").write_bytes(b"#!/bin/sh\r\nexit 2\r\n")


def _same_name(pack: PackRepository) -> None:
    write_hook(pack.path / "no-deploy", "other")


def _broken(pack: PackRepository) -> None:
    (pack.path / "hooks/no-deploy/HOOK.md").write_text("---\nname: no-deploy\ntrigger: nothing\n---\n")


def _empty(pack: PackRepository) -> None:
    git(pack.path, "rm", "-rq", "hooks")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_submodule, "hooks/no-deploy/lib is a submodule"),
        (_submodule_of_hooks, "hooks/others is a submodule"),
        (_all_in_a_submodule, "vendor is a submodule"),
        (_link, "no-deploy/lib is a link that leads out"),
        (_hook_is_a_link, "hooks/other is a link"),
        (_pack_file_is_a_link, "pack.toml of .* is a link"),
        (_link_to_a_parent, "scripts/above is a link"),
        (_definition_is_a_link, "HOOK.md is a link that leads out"),
        (_much_data, "are larger than 16 MiB"),
        (_git_lfs, "scripts/run.sh is kept by git LFS"),
        (_line_endings, "Windows line endings"),
        (_same_name, "two hooks called no-deploy"),
        (_broken, "unknown event 'nothing'"),
        (_empty, "has no hooks"),
        (_in_pack_file("name = "), "pack.toml of .* is not valid TOML"),
        (_in_pack_file(f"name = {'[' * 9999}"), "pack.toml of .* is not valid TOML"),
        (_in_pack_file("name = 5"), "'name' is not a string"),
        (_in_pack_file('hooks = "all"'), "'hooks' is not a list"),
        (_in_pack_file('hooks = ["gone"]'), "names a hook that it does not have: gone"),
        (_in_pack_file('requires = "99.1"'), f"needs Tenterhook 99.1; this is {__version__}"),
        (_in_pack_file('requires = "newest"'), "'requires' is not a version: newest"),
        (_in_pack_file('[[packs]]\nsource = "other"'), "names other packs, which is not supported"),
    ],
    ids=lambda value: getattr(value, "__name__", None) if callable(value) else None,
)
def test_a_pack_that_cannot_be_used_is_a_clear_error(
    pack: PackRepository, change: Callable[[PackRepository], None], error: str
) -> None:
    change(pack)
    pack.commit("v1.1.0")
    with pytest.raises(HookError, match=error) as raised:
        store.fetch(pack.source, "v1.1.0", "user")
    assert raised.value.remedy
    left = os.listdir(packs.store("user")) if os.path.isdir(packs.store("user")) else []
    assert not [name for name in left if name.startswith(".")]


def test_hooks_with_too_many_files_are_refused(pack: PackRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_FILES", 1)
    for source in (pack.source, f"{pack.source}/hooks"):
        with pytest.raises(HookError, match="have more than 1 files"):
            store.fetch(source, "", "user")


@pytest.mark.promise("a hostile repository")
def test_a_tree_with_a_link_and_a_directory_of_one_name_writes_nothing_outside(
    pack: PackRepository, tmp_path: Path, home: Path
) -> None:
    """Fetching a pack writes nothing outside of the store, whatever its tree contains."""
    outside = tmp_path / "outside"
    outside.mkdir()

    def written(kind: str, content: bytes) -> bytes:
        (tmp_path / "object").write_bytes(content)
        arguments = ("hash-object", "-t", kind, "-w", "--literally", str(tmp_path / "object"))
        return bytes.fromhex(git(pack.path, *arguments))

    def tree(*entries: tuple[str, str, bytes]) -> bytes:
        return written("tree", b"".join(f"{mode} {name}".encode() + b"\0" + each for mode, name, each in entries))

    below, link = tree(("100644", "file", written("blob", b"x"))), written("blob", bytes(outside))
    known = {
        name: bytes.fromhex(git(pack.path, "rev-parse", f"HEAD:hooks/no-deploy/{name}"))
        for name in ("HOOK.md", "scripts")
    }
    hook = tree(
        ("100644", "HOOK.md", known["HOOK.md"]),
        ("120000", "a", link),
        ("40000", "a", below),
        ("40000", "scripts", known["scripts"]),
    )
    top = tree(("40000", "hooks", tree(("40000", "no-deploy", hook))))
    git(pack.path, "tag", "v6.6.6", git(pack.path, "commit-tree", top.hex(), "-m", "x"))
    with pytest.raises(HookError, match=r"no-deploy/a: the pack has two files of this name"):
        store.fetch(pack.source, "v6.6.6", "user")
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["..", "../../../../../../.bashrc"])
def test_a_tree_with_a_name_that_leads_out_is_refused(pack: PackRepository, tmp_path: Path, name: str) -> None:
    repository = Repository(pack.source)
    repository.fetch()
    entries = repository.files(repository.resolve("v1.0.0").tree)
    crafted = [*entries, entries[0]._replace(path=f"hooks/no-deploy/{name}")]
    files = [SourceFile(entry.path, b"") for entry in crafted]
    with pytest.raises(HookError, match="a file with this name cannot be stored"):
        store._write(str(tmp_path), os.path.relpath(files[-1].path, "hooks"), files[-1])


def test_filters_and_attributes_of_a_pack_change_nothing_and_run_nothing(pack: PackRepository, tmp_path: Path) -> None:
    git(pack.path, "config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    git(pack.path, "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    git(pack.path, "config", "uploadpack.packObjectsHook", f'touch {tmp_path}/ran; exec "$@"')
    script = (pack.path / "hooks/no-deploy/scripts/run.sh").read_bytes()
    (pack.path / ".gitattributes").write_text("* text eol=crlf\n*.sh filter=evil ident\n")
    pack.commit("v1.1.0")
    (tmp_path / "ran").unlink(missing_ok=True)  # that was the author's own git
    locked = store.fetch(pack.source, "v1.1.0", "user")
    with open(f"{packs.store('user')}/{locked.tree}/no-deploy/scripts/run.sh", "rb") as file:
        assert file.read() == script
    assert not (tmp_path / "ran").exists()


def test_an_older_version_is_enough(pack: PackRepository) -> None:
    (pack.path / "pack.toml").write_text('name = "team"\nrequires = "0.0.1"\nhooks = []\n')
    pack.commit("v1.1.0")
    locked = store.fetch(pack.source, "v1.1.0", "user")
    assert (locked.name, locked.default, locked.chosen(None)) == ("team", (), [])
    assert [hook.name for hook in locked.chosen(["no-deploy"])] == ["no-deploy"]


def test_a_definition_with_windows_line_endings_is_the_same_hook(pack: PackRepository) -> None:
    file = pack.path / "hooks/no-deploy/HOOK.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    (pack.path / "pack.toml").write_bytes(b'name = "team"\r\nhooks = ["no-deploy"]\r\n')
    pack.commit("v1.1.0")
    locked = store.fetch(pack.source, "v1.1.0", "user")
    assert (locked.name, [(hook.name, hook.pattern) for hook in locked.hooks]) == ("team", [("no-deploy", "deploy")])


def test_a_pack_in_a_directory_of_a_repository_is_named_by_it(tmp_path: Path) -> None:
    repository = PackRepository(tmp_path / "monorepo")
    write_hook(repository.path / "tools/agent-hooks/no-deploy", "deploy")
    repository.commit("v1.0.0")
    locked = store.fetch(f"{repository.source}#tools/agent-hooks", "v1.0.0", "user")
    assert (locked.name, locked.tree) == ("agent-hooks", git(repository.path, "rev-parse", "HEAD:tools/agent-hooks"))
