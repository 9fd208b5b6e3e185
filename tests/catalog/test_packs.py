"""Hooks of packs: in force as the lock has them, refused where they must be, visible where they are not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from packs.repositories import PackRepository
from support import shell_call
from tenterhook import Engine
from tenterhook.catalog import loading, packs, source_trust
from tenterhook.catalog.packs import NamedPack
from tenterhook.catalog.trust import Trust
from tenterhook.packs import declarations, store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenterhook import Verdict
    from tenterhook.catalog.packs import LockedPack
    from tenterhook.catalog.trust import TrustStatus
    from tenterhook.errors import Problem
    from tenterhook.model import Hook


@pytest.fixture
def pack(tmp_path: Path) -> PackRepository:
    made = PackRepository(tmp_path / "agent-hooks")
    made.hook("no-deploy", "deploy")
    made.hook("no-prod", "prod", metadata="on_failure: block, hosts: [a]")
    made.commit("v1.0.0")
    return made


def use(pack: PackRepository, directory: Path, layer: str = "user", named: NamedPack | None = None) -> LockedPack:
    """Name a pack in a directory of hooks, lock and trust it."""
    locked = store.fetch(pack.source, "v1.0.0", layer)
    named = named or NamedPack(pack.source, "v1.0.0")
    declarations.write(declarations.read(str(directory), layer), pack.source, (named, locked))
    source_trust.approve(locked)
    return locked


def own(home: Path) -> Path:
    return home / ".config/agents/hooks"


def decided(project: Path, command: str) -> Verdict:
    return Engine.load(project=project).decide(shell_call(command))


def problems_of(engine: Engine) -> tuple[Problem, ...]:
    assert engine.catalog is not None
    return engine.catalog.problems


def outcomes(verdict: Verdict) -> list[tuple[str, str, str | None]]:
    return [(run.hook.name, str(run.outcome), run.why) for run in verdict.runs]


def folder(locked: LockedPack, name: str) -> str:
    return f"{packs.store('user')}/{locked.tree}/{name}"


def tamper(locked: LockedPack, name: str) -> None:
    script = f"{folder(locked, name)}/scripts/run.sh"
    os.chmod(script, 0o755)
    with open(script, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")


def test_a_hook_of_a_pack_runs_as_one_of_the_person(pack: PackRepository, home: Path, project: Path) -> None:
    use(pack, own(home))
    verdict = decided(project, "make deploy")
    assert (verdict.decision, verdict.reason) == ("deny", "not this")
    assert verdict.problems == ()


@pytest.mark.promise("a hostile repository")
def test_bytes_that_are_not_those_of_the_lock_never_run(pack: PackRepository, home: Path, project: Path) -> None:
    """A pack's hook runs only with the bytes of `hooks.lock`; if it fails closed, its event is refused otherwise."""
    locked = use(pack, own(home))
    engine = Engine.load(project=project)
    assert engine.decide(shell_call("make deploy")).denied
    tamper(locked, "no-deploy")
    tamper(locked, "no-prod")
    for each in (engine, Engine.load(project=project)):
        verdict = each.decide(shell_call("make deploy"))
        assert not verdict.denied
        assert verdict.runs[0].outcome in ("not_run", "failed")
        assert "hooks.lock" in str((verdict.runs[0].why, verdict.runs[0].notes))
        refused = each.decide(shell_call("psql prod"))
        assert refused.denied, "it is to block when it fails"
        assert "hooks.lock" in str(refused.reason)


def test_a_pack_that_is_not_in_the_store_is_refused_where_it_is_closed(
    pack: PackRepository, home: Path, project: Path
) -> None:
    locked = use(pack, own(home))
    for name in ("no-deploy", "no-prod"):
        for above, directories, _ in os.walk(folder(locked, name)):
            for each in (above, *(f"{above}/{directory}" for directory in directories)):
                os.chmod(each, 0o755)
    shutil.rmtree(os.path.dirname(folder(locked, "x")))
    engine = Engine.load(project=project)
    assert engine.decide(shell_call("psql prod")).denied
    assert not engine.decide(shell_call("make deploy")).denied
    assert {problem.code for problem in problems_of(engine)} == {"pack-differs"}
    store.fetch(pack.source, "v1.0.0", "user")
    assert engine.decide(shell_call("make deploy")).denied, "it is back without a restart"


@pytest.mark.parametrize("broken", ["[[packs]]\nname", "schema = 2\n", "schema = 1\n[[packs]]\nname = 5\n"])
def test_packs_stay_in_force_if_the_lock_is_broken(
    pack: PackRepository, home: Path, project: Path, broken: str
) -> None:
    use(pack, own(home))
    Engine.load(project=project).decide(shell_call("ls"))
    (own(home) / "hooks.lock").write_text(broken)
    engine = Engine.load(project=project)
    assert engine.decide(shell_call("make deploy")).denied
    assert [problem.code for problem in problems_of(engine)] == ["bad-lock"]


def test_a_lock_that_was_cut_off_between_two_lines_loses_no_hook(
    pack: PackRepository, home: Path, project: Path
) -> None:
    use(pack, own(home))
    file = own(home) / "hooks.lock"
    lines = file.read_text().splitlines(keepends=True)
    for kept in (lines[:2], lines[:-1], lines[:-2]):  # without the pack, and without hooks of it
        file.write_text("".join(kept))
        for _ in range(2):  # what is read now is stored, too
            engine = Engine.load(project=project)
            assert engine.decide(shell_call("make deploy")).denied
            assert engine.decide(shell_call("psql prod")).denied
            assert [problem.code for problem in problems_of(engine)] == ["bad-lock"]


@pytest.mark.parametrize(("key", "value"), [("digest", "0" * 64), ("closed", False), ("event", "pre-session")])
def test_a_lock_that_contradicts_itself_for_one_revision_changes_nothing(
    pack: PackRepository, home: Path, project: Path, key: str, value: Any
) -> None:
    """An agent that edits the lock and not the revision: what was in force for these bytes still is."""
    locked = use(pack, own(home))
    Engine.load(project=project).decide(shell_call("ls"))
    edited = locked._replace(hooks=tuple(hook._replace(**{key: value}) for hook in locked.hooks))
    (own(home) / "hooks.lock").write_text(packs.lock_text([edited]))
    for _ in range(2):
        engine = Engine.load(project=project)
        assert engine.decide(shell_call("make deploy")).denied
        assert engine.decide(shell_call("psql prod")).denied
        codes = ["bad-lock"] if key == "digest" else []
        assert [problem.code for problem in problems_of(engine)] == codes
    tamper(locked, "no-prod")
    assert Engine.load(project=project).decide(shell_call("psql prod")).denied, "it is still one that must block"


def test_a_lock_that_puts_less_in_force_for_one_revision_changes_nothing(
    pack: PackRepository, home: Path, project: Path
) -> None:
    locked = use(pack, own(home))
    Engine.load(project=project).decide(shell_call("ls"))
    nothing = locked._replace(hooks=())
    for edited in (
        locked._replace(default=()),
        locked._replace(before=nothing, shadow_until=time.time() + 1e6),
    ):
        (own(home) / "hooks.lock").write_text(packs.lock_text([edited]))
        for _ in range(2):
            engine = Engine.load(project=project)
            assert engine.decide(shell_call("make deploy")).denied
            assert [problem.code for problem in problems_of(engine)] == ["bad-lock"]


@pytest.mark.parametrize(
    ("hook", "tree"),
    [
        ('guard = { digest = "0", event = "before_tool", tool = 5 }', "0" * 40),
        ('guard = { digest = "0", event = "before_tool", pattern = ["x"] }', "0" * 40),
        ('guard = { digest = "0", event = "before_tool", closed = "yes" }', "0" * 40),
        ('guard = { digest = "0", event = "before_tool", tool = "(" }', "0" * 40),
        ('guard = { digest = "0", event = "before_tool", tool = "Shell", pattern = "[" }', "0" * 40),
        ('".." = { digest = "0", event = "before_tool" }', "0" * 40),
        ('guard = { digest = "0", event = "before_tool" }', ".."),
    ],
)
def test_a_lock_with_values_of_another_kind_is_broken(project: Path, hook: str, tree: str) -> None:
    directory = project / ".agents"
    directory.mkdir(exist_ok=True)
    (directory / "hooks.toml").write_text('[[packs]]\nsource = "https://example.org/pack"\n')
    about = f'name = "pack"\nsource = "https://example.org/pack"\nrev = ""\ncommit = ""\ntree = "{tree}"\n'
    (directory / "hooks.lock").write_text(f"schema = 1\n[[packs]]\n{about}[packs.hooks]\n{hook}\n")
    engine = Engine.load(project=project)
    assert [problem.code for problem in problems_of(engine)] == ["bad-lock"]
    assert not engine.decide(shell_call("ls")).denied


def _add_a_file(folder: Path) -> None:
    (folder / "scripts/lib.sh").write_text("exit 0\n")


def _add_an_empty_directory(folder: Path) -> None:
    (folder / "__pycache__").mkdir()


def _one_byte(folder: Path) -> None:
    file = folder / "scripts/run.sh"
    file.chmod(0o755)
    file.write_bytes(file.read_bytes()[:-1] + b" ")


def _one_byte_with_the_same_times(folder: Path) -> None:
    file = folder / "scripts/run.sh"
    before = file.stat()
    _one_byte(folder)
    file.chmod(0o555)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _mode(folder: Path) -> None:
    (folder / "scripts/run.sh").chmod(0o777)


def _a_link_instead_of_a_file(folder: Path) -> None:
    (folder / "scripts/run.sh").rename(folder / "run.sh")
    (folder / "scripts/run.sh").symlink_to("../run.sh")


def _a_link_instead_of_the_folder(folder: Path) -> None:
    folder.rename(folder.with_name(f"{folder.name}.old"))
    folder.symlink_to(f"{folder.name}.old")


def _removed(folder: Path) -> None:
    (folder / "scripts/run.sh").unlink()


def _other_definition(folder: Path) -> None:
    file = folder / "HOOK.md"
    file.chmod(0o644)
    file.write_text(file.read_text().replace("pattern: prod", "pattern: nothing").replace("block", "warn"))


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize(
    "change",
    [
        *(_add_a_file, _add_an_empty_directory, _one_byte, _one_byte_with_the_same_times, _mode, _removed),
        *(_a_link_instead_of_a_file, _a_link_instead_of_the_folder, _other_definition),
    ],
)
def test_each_change_in_the_store_is_found_at_the_next_event(
    pack: PackRepository, home: Path, project: Path, change: Callable[[Path], None]
) -> None:
    """Whatever is changed in the store: an open hook is not run, and one that must block refuses its event."""
    locked = use(pack, own(home))
    running = Engine.load(project=project)
    assert running.decide(shell_call("make deploy")).denied
    for name in ("no-deploy", "no-prod"):
        for each in (folder(locked, name), f"{folder(locked, name)}/scripts"):
            os.chmod(each, 0o755)
        change(Path(folder(locked, name)))
        for each in (folder(locked, name), f"{folder(locked, name)}/scripts"):
            if not os.path.islink(folder(locked, name)):
                os.chmod(each, 0o555)
    for engine in (running, Engine.load(project=project)):
        verdict = engine.decide(shell_call("make deploy"))
        assert not verdict.denied
        assert verdict.runs[0].outcome in ("not_run", "failed")
        assert engine.decide(shell_call("psql prod")).denied, "it is to block when it fails"


def test_files_that_change_between_check_and_run_are_found_after_it(
    pack: PackRepository, home: Path, project: Path
) -> None:
    """A program that waits for the check can have other bytes run; what they allow does not count."""
    script = pack.path / "hooks/no-prod/scripts/run.sh"
    script.write_text('#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n')
    lib = script.with_name("lib.sh")
    change = 'chmod u+w "$0"; echo "# other" >> "$0"; sleep 0.05\n'
    lib.write_text(f"case $(cat) in *quiet*) exit 0;; *loud*) {change} exit 2;; esac\n{change}exit 0\n")
    pack.commit("v1.0.0")
    for name, decision in (("quiet", "none"), ("other", "deny"), ("loud", "deny")):
        locked = use(pack, own(home))
        verdict = decided(project, f"psql prod {name}")
        assert verdict.decision == decision, (name, verdict)
        told = str([(run.why, run.notes) for run in verdict.runs])
        assert ("its files were changed while it ran" in told) == (name != "quiet"), told
        assert (packs.difference(folder(locked, "no-prod"), locked.hooks[1].digest) is None) == (name == "quiet")


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_a_directory_that_is_another_one_during_the_run_is_found(
    pack: PackRepository, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, levels: int
) -> None:
    """The hook's folder, or a directory above it, is replaced after the check, and is back when the run has ended."""
    locked = use(pack, own(home))
    script = Path(folder(locked, "no-prod"), "scripts/run.sh")
    top = Path(folder(locked, "no-prod"), *[".."] * levels).resolve()
    other, away = home / "other", home / "away"
    shutil.copytree(top, other, symlinks=True)
    for above in (top.parent, other / script.parent.relative_to(top)):
        above.chmod(0o755)
    forged = other / script.relative_to(top)
    forged.chmod(0o755)
    forged.write_text(f"#!/bin/sh\ntouch {home}/ran\nmv {top} {other}\nmv {away} {top}\nexit 0\n")
    standing = Trust.standing

    def replace(self: Trust, hook: Hook) -> TrustStatus:
        found = standing(self, hook)
        top.rename(away)
        other.rename(top)
        return found

    with monkeypatch.context() as during:
        during.setattr(Trust, "standing", replace)
        verdict = decided(project, "psql prod")
    assert (home / "ran").exists()
    assert verdict.denied
    assert "its files were changed while it ran" in str(verdict.reason)
    assert packs.difference(folder(locked, "no-prod"), locked.hooks[1].digest) is None


def test_a_definition_that_is_replaced_after_the_check_is_not_used(
    pack: PackRepository, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = use(pack, own(home))
    definition = Path(folder(locked, "no-prod"), "HOOK.md")
    before = definition.read_text()
    compare = packs.difference

    def replace(directory: str, digest: str) -> str | None:
        why = compare(directory, digest)
        if directory == folder(locked, "no-prod"):
            definition.chmod(0o644)
            definition.write_text(before.replace("pattern: prod", "pattern: never"))
        return why

    with monkeypatch.context() as during:
        during.setattr(packs, "difference", replace)
        found = loading.load(str(project))
    (hook,) = (each for each in found.hooks if each.name == "no-prod")
    assert (hook.pattern, hook.fail_closed) == ("prod", True)
    assert "changed while they were read" in str(hook.missing)


def test_byte_code_outside_of_the_locked_folder_does_not_count(pack: PackRepository, home: Path, project: Path) -> None:
    """Python would believe byte code in a cache that has the time and size of the module."""
    scripts = pack.path / "hooks/no-deploy/scripts"
    (scripts / "run.sh").unlink()
    (scripts / "run.py").write_text("#!/usr/bin/env python3\nimport lib\nlib.refuse()\n")
    (scripts / "run.py").chmod(0o755)
    (scripts / "lib.py").write_text("import sys\ndef refuse(): sys.exit(2)\n")
    pack.commit("v1.0.0")
    locked = use(pack, own(home))
    assert decided(project, "make deploy").denied
    module = f"{folder(locked, 'no-deploy')}/scripts/lib.py"
    forged = home / "lib.py"
    forged.write_text("import sys\ndef refuse(): sys.exit(0)\n")
    os.utime(forged, ns=(0, os.stat(module).st_mtime_ns))
    cache = home / ".cache/tenterhook/pycache"
    python = shutil.which("python3") or "python3"
    name = f"import importlib.util; print(importlib.util.cache_from_source({module!r}))"
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    target = subprocess.run([python, "-c", name], env=environment, capture_output=True, text=True, check=True).stdout
    compiled = f"import py_compile; py_compile.compile({str(forged)!r}, cfile={target.strip()!r}, doraise=True)"
    subprocess.run([python, "-c", compiled], check=True)
    assert decided(project, "make deploy").denied
    assert packs.difference(folder(locked, "no-deploy"), locked.hooks[0].digest) is None


def test_two_packs_with_a_hook_of_the_same_name_both_run_and_that_is_a_problem(
    pack: PackRepository, tmp_path: Path, home: Path, project: Path
) -> None:
    second = PackRepository(tmp_path / "second")
    second.hook("no-deploy", "deploy", reason="the other")
    second.commit("v1.0.0")
    use(pack, own(home))
    use(second, own(home))
    engine = Engine.load(project=project)
    assert len(engine.decide(shell_call("make deploy")).runs) == 2
    said = [problem.message for problem in problems_of(engine)]
    assert said == ["the packs agent-hooks and second both have a hook 'no-deploy'; both run"]


def test_what_is_not_fetched_and_not_trusted_is_only_a_matter_of_trust(
    pack: PackRepository, project: Path, home: Path
) -> None:
    """After cloning a project, one thing is asked: `tenterhook trust` fetches it, too."""
    use(pack, project / ".agents/hooks", "project")
    source_trust.revoke(pack.source)
    os.rename(packs.store("project"), f"{home}/away")
    engine = Engine.load(project=project)
    assert outcomes(engine.decide(shell_call("make deploy"))) == [("no-deploy", "not_run", "untrusted")]
    assert problems_of(engine) == ()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["hooks.toml", "hooks.lock"])
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a large file"])
def test_a_file_of_a_project_that_would_never_end_holds_up_no_event(project: Path, name: str, kind: str) -> None:
    directory = project / ".agents"
    directory.mkdir()
    (directory / "hooks.toml").write_text('[[packs]]\nsource = "/x"\n')
    (directory / "hooks.lock").write_text("schema = 1\n")
    (directory / name).unlink()
    if kind == "a pipe":
        os.mkfifo(directory / name)
    elif kind == "a device":
        (directory / name).symlink_to("/dev/zero")
    else:
        with (directory / name).open("wb") as file:
            file.truncate(5 * 1024 * 1024)
    engine = Engine.load(project=project)
    assert engine.decide(shell_call("ls")).decision == "none"
    if name == "hooks.lock":
        assert [problem.code for problem in problems_of(engine)] == ["bad-lock"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["hooks.toml", "hooks.lock"])
@pytest.mark.parametrize(
    "text",
    [f"x{'.a' * 50_000} = 1\n", "\n".join((f"[x{'.a' * 1000}]", *(f"b{number} = 1" for number in range(50_000))))],
)
def test_a_file_of_a_project_with_keys_of_many_parts_holds_up_no_event(project: Path, name: str, text: str) -> None:
    directory = project / ".agents"
    directory.mkdir()
    (directory / "hooks.toml").write_text('[[packs]]\nsource = "/x"\n')
    (directory / "hooks.lock").write_text("schema = 1\n")
    (directory / name).write_text(text)
    since = time.monotonic()
    Engine.load(project=project)
    assert time.monotonic() - since < 5, "it would take minutes"


@pytest.mark.parametrize("name", ["hooks.toml", "hooks.lock"])
def test_packs_stay_in_force_if_a_file_is_gone_or_not_toml(
    pack: PackRepository, home: Path, project: Path, name: str
) -> None:
    use(pack, own(home))
    Engine.load(project=project).decide(shell_call("ls"))
    (own(home) / name).write_text("[[")
    assert decided(project, "make deploy").denied
    (own(home) / name).unlink()
    assert decided(project, "make deploy").denied


@pytest.mark.parametrize("text", ['[[packs]]\nrev = "v1.0.0"\n', "[packs]\n", '[[packs]]\nsource = "{}"\nrev = 1\n'])
def test_packs_stay_in_force_if_an_entry_is_wrong(pack: PackRepository, home: Path, project: Path, text: str) -> None:
    use(pack, own(home))
    Engine.load(project=project).decide(shell_call("ls"))
    (own(home) / "hooks.toml").write_text(text.format(pack.source))
    for _ in range(2):
        engine = Engine.load(project=project)
        assert engine.decide(shell_call("make deploy")).denied
        assert [problem.severity for problem in problems_of(engine)] == ["error"]
    (own(home) / "hooks.toml").write_text("")
    assert not decided(project, "make deploy").denied


def test_a_revision_that_was_changed_by_hand_leaves_the_locked_one_in_force(
    pack: PackRepository, home: Path, project: Path
) -> None:
    use(pack, own(home))
    file = own(home) / "hooks.toml"
    file.write_text(file.read_text().replace("v1.0.0", "v2.0.0"))
    engine = Engine.load(project=project)
    assert engine.decide(shell_call("make deploy")).denied
    assert [problem.code for problem in problems_of(engine)] == ["pack-not-locked"]


def test_only_some_hooks_with_settings(pack: PackRepository, home: Path, project: Path) -> None:
    named = NamedPack(pack.source, "v1.0.0", ("no-prod",), {"no-prod": {"hosts": ["db1"]}})
    use(pack, own(home), named=named)
    engine = Engine.load(project=project)
    assert [hook.name for hook in engine.hooks] == ["no-prod"]
    assert engine.hooks[0].metadata == {"on_failure": "block", "hosts": ["db1"]}


def test_a_name_that_the_pack_does_not_have_is_a_problem(pack: PackRepository, home: Path, project: Path) -> None:
    use(pack, own(home), named=NamedPack(pack.source, "v1.0.0", ("no-prod", "gone")))
    engine = Engine.load(project=project)
    assert [problem.message for problem in problems_of(engine)] == ["the pack agent-hooks has no hook 'gone'"]
    assert engine.decide(shell_call("psql prod")).denied


@pytest.mark.promise("a hostile repository")
def test_a_projects_pack_runs_once_its_source_is_trusted_and_no_longer_when_it_is_not(
    pack: PackRepository, project: Path
) -> None:
    """Hooks of a pack that a repository names run only while its source is trusted at that revision."""
    use(pack, project / ".agents/hooks", "project")
    assert decided(project, "make deploy").denied
    source_trust.revoke(pack.source)
    verdict = decided(project, "make deploy")
    assert outcomes(verdict) == [("no-deploy", "not_run", "untrusted")]
    assert not decided(project, "psql prod").denied, "what was never trusted refuses nothing"


def test_settings_of_an_untrusted_project_do_not_reach_a_hook(pack: PackRepository, project: Path) -> None:
    named = NamedPack(pack.source, "v1.0.0", None, {"no-prod": {"hosts": ["theirs"]}})
    use(pack, project / ".agents/hooks", "project", named)
    engine = Engine.load(project=project)
    hook = next(hook for hook in engine.hooks if hook.name == "no-prod")
    assert hook.metadata["hosts"] == ["a"]
    assert {problem.code for problem in problems_of(engine)} == {"untrusted-settings"}


def test_the_same_pack_of_person_and_project_runs_once(pack: PackRepository, home: Path, project: Path) -> None:
    use(pack, own(home))
    use(pack, project / ".agents/hooks", "project")
    assert len(decided(project, "make deploy").runs) == 1


def test_the_lock_is_the_same_text_whatever_the_order() -> None:
    hooks = tuple(packs.LockedHook(name, "d" * 64, "pre-tool-call", closed=name == "b") for name in "ab")
    one, two = (packs.LockedPack(name, f"s-{name}", "v1", "c", "t", hooks) for name in ("one", "two"))
    text = packs.lock_text([two, one._replace(hooks=hooks[::-1])])
    assert text == packs.lock_text([one, two])


def test_the_lock_that_was_written_is_read(tmp_path: Path) -> None:
    hook = packs.LockedHook("a.b", "d" * 64, "PreToolUse", "Shell", 'x"y', closed=True)
    pack = packs.LockedPack("p", "git@example.org:a/b", "v1", "c", "t", (hook,), ("a.b",), "ssh-ed25519 AAAA")
    (tmp_path / "hooks.lock").write_text(packs.lock_text([pack]))
    assert packs.read_lock(str(tmp_path / "hooks.lock")) == [pack]


def test_in_shadow_mode_the_old_hook_is_enforced_until_the_time_is_over(
    pack: PackRepository, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = use(pack, own(home))
    pack.hook("no-deploy", "deploy", reason="the new one")
    pack.commit("v1.1.0")
    until = time.time() + 3600
    new = store.fetch(pack.source, "v1.1.0", "user")._replace(before=old, shadow_until=until)
    source_trust.approve(new)
    declared = declarations.read(str(own(home)), "user")
    declarations.write(declared, pack.source, (NamedPack(pack.source, "v1.1.0"), new))
    engine = Engine.load(project=project)
    verdict = engine.decide(shell_call("make deploy"))
    assert verdict.reason == "not this"
    assert sorted((run.hook.is_shadow, run.stderr.strip()) for run in verdict.runs) == [
        (False, "not this"),
        (True, "the new one"),
    ]
    assert [hook.name for hook in engine.hooks].count("no-prod") == 1, "it is the same in both"
    monkeypatch.setattr(time, "time", lambda: until + 1)
    verdict = engine.decide(shell_call("make deploy"))
    assert (verdict.reason, len(verdict.runs)) == ("the new one", 1)
