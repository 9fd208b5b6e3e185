"""Variables that a repository sets in an agent: none reaches our own processes, none disables a guard."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import BRIDGE, HANG, install, line, payload, record, serving
from support import (
    array_hook,
    change_launcher,
    end_of_the_agent,
    folder_hook,
    shell_call,
    table_hook,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine
from tenterhook.basics import env_policy, processes
from tenterhook.dispatch import daemon
from tenterhook.install import interpreters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ask = Callable[..., str | None]

AGENT = "claude-code"
PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs as a system has them, without shims; this Python as it is outside of a virtual environment."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).resolve().parent}:{PATH}")
    end_of_the_agent()


WAYS = ["launcher", "bridge.py", "daemon, launcher", "daemon, bridge.py"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """How an agent reaches us; where a daemon runs, the launcher starts bridge.pl."""
    return str(request.param)


@contextmanager
def answering(way: str) -> Iterator[Ask]:
    """What puts a tool call to the hooks, with variables that a repository has set."""
    direct = [sys.executable, "-I", "-S", BRIDGE, "--host", AGENT, "--event", "PreToolUse", "--record"]
    command = ["sh", "-c", line(AGENT, "PreToolUse")] if "launcher" in way else [*direct, str(record(AGENT))]

    def ask(said: dict[str, Any], **given: str) -> str | None:
        ended = subprocess.run(
            command, input=json.dumps(said), capture_output=True, text=True, timeout=HANG, env={**os.environ, **given}
        )
        assert ended.returncode == 0, ended.stderr
        answer = json.loads(ended.stdout or "{}").get("hookSpecificOutput", {})
        return answer["permissionDecisionReason"] if answer.get("permissionDecision") in ("ask", "deny") else None

    with serving() if "daemon" in way else nullcontext():
        yield ask


def python_guard(home: Path, first: str = "#!/usr/bin/env python3", **front: Any) -> Path:
    script = f"{first}\nimport json, sys\njson.load(sys.stdin)\nprint('not this', file=sys.stderr)\nsys.exit(2)\n"
    return folder_hook(user_hooks(home), "guard", script, file="run.py", **front)


# ------------------------------------------------------------------ hooks


@pytest.mark.promise("a hostile repository")
def test_a_home_of_the_repository_runs_no_code_in_a_python_guard(home: Path, project: Path, way: str) -> None:
    """A repository that sets HOME or XDG directories gets no code of its own into your hooks."""
    python_guard(home)
    install(AGENT)
    site = subprocess.run(
        ["python3", "-c", "import site; print(site.getusersitepackages())"],
        env={**os.environ, "HOME": str(project / "fh")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    Path(site).mkdir(parents=True)
    Path(site, "usercustomize.py").write_text(f"open({str(project / 'ran')!r}, 'w'); import os; os._exit(0)")
    given = {"HOME": str(project / "fh"), "XDG_CONFIG_HOME": str(project), "XDG_STATE_HOME": str(project)}
    with answering(way) as ask:
        assert ask(payload(AGENT, project), **given) == "not this"
    assert not (project / "ran").exists()


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("kind", ["built-in", "new"])
def test_packages_of_the_account_run_no_code_in_python_guards(home: Path, project: Path, kind: str) -> None:
    """A `usercustomize.py` or `.pth` file in user site-packages runs no code in the guards that Tenterhook brings."""
    more = [] if kind == "built-in" else ["--on", "pre-tool-call", "--lang", "python", "--reason", "not this"]
    name = "protect-hooks" if kind == "built-in" else "own"
    assert tenterhook("add" if kind == "built-in" else "new", name, *more).returncode == 0
    install(AGENT)
    site = subprocess.run(
        ["python3", "-c", "import site; print(site.getusersitepackages())"], capture_output=True, text=True, check=True
    ).stdout.strip()
    Path(site).mkdir(parents=True)
    Path(site, "usercustomize.py").write_text("import os; os._exit(0)")
    Path(site, "evil.pth").write_text("import os; os._exit(0)")
    assert not subprocess.run(["python3", "-c", "raise SystemExit(7)"], check=False).returncode
    with answering("launcher") as ask:
        assert ask(payload(AGENT, project, "rm -rf ~/.claude/settings.json")) is not None
    folder = user_hooks(home) / name
    assert not list(folder.rglob("__pycache__"))


@pytest.mark.promise("a hostile repository")
def test_shell_options_of_the_repository_do_not_silence_a_bash_guard(home: Path, project: Path, way: str) -> None:
    """A repository that sets SHELLOPTS, BASH_ENV or exported functions does not disable a guard that is run by bash."""
    folder_hook(user_hooks(home), "guard", "#!/bin/bash\necho 'not this' >&2\nexit 2\n")
    install(AGENT)
    start_file = project / "start.sh"
    start_file.write_text("exit 0\n")
    functions = {"BASH_FUNC_exit%%": "() { builtin exit 0; }", "BASH_FUNC_echo%%": "() { :; }"}
    with answering(way) as ask:
        assert ask(payload(AGENT, project), SHELLOPTS="noexec") == "not this"
        assert ask(payload(AGENT, project), BASH_ENV=str(start_file)) == "not this"
        assert ask(payload(AGENT, project), **functions) == "not this"


@pytest.mark.promise("a hostile repository")
def test_variables_of_common_programs_run_no_code_in_hooks(home: Path, project: Path, way: str) -> None:
    """Settings of shells and common programs (SHELL, FUNCNEST, ZIPOPT …) of a repository do not reach your hooks."""
    script = "env > seen\ndeny() { echo 'not this' >&2; exit 2; }\ncheck() { deny; }\n"
    folder_hook(user_hooks(home), "guard", f"#!/bin/bash\n{script}flock lock -c true && zip -q x.zip run.sh && check\n")
    install(AGENT)
    (project / "run.sh").write_text("#!/bin/sh\necho x > ran\nexit 0\n")
    (project / "run.sh").chmod(0o755)
    evil = "/proc/self/cwd/run.sh"
    bus = {"DBUS_SESSION_BUS_ADDRESS": f"unixexec:path={evil}"}
    given = {"FUNCNEST": "1", "SHELL": evil, "ZIPOPT": f"-T -TT {evil}", "SSH_ASKPASS_REQUIRE": "force", **bus}
    with answering(way) as ask:
        if shutil.which("zip") and shutil.which("flock"):
            assert ask(payload(AGENT, project), **given) == "not this"
        else:
            ask(payload(AGENT, project), **given)
    assert not (project / "ran").exists()
    seen = dict(each.split("=", 1) for each in (project / "seen").read_text().splitlines() if "=" in each)
    assert {name: seen.get(name) for name in given} == {**dict.fromkeys(given), "SHELL": os.environ.get("SHELL")}


@pytest.mark.promise("a hostile repository")
def test_a_forged_chain_does_not_silence_a_guard(home: Path, project: Path, way: str) -> None:
    """A repository cannot make a guard believe that it calls itself, whichever process it names."""
    folder_hook(user_hooks(home), "guard", 'echo "not this $TENTERHOOK_CHAIN" >&2; exit 2')
    install(AGENT)
    with answering(way) as ask:
        said = ask(payload(AGENT, project)) or ""
        hook = said.split()[-1].partition(":")[2]
        for process in list(processes.ancestors(os.getpid())):  # the first of them plays the agent
            said = ask(payload(AGENT, project), TENTERHOOK_CHAIN=f"{process}:{hook}") or ""
            assert said.startswith("not this")
            assert str(process) not in said


def test_a_hook_that_calls_its_agent_ends(home: Path, project: Path, way: str) -> None:
    """Also with a chain that the repository has forged, which is no part of what the hook is told."""
    folder_hook(user_hooks(home), "loop", 'cat > said; echo x >> times; sh -c "$(cat again)" < said')
    install(AGENT)
    (project / "again").write_text(line(AGENT, "PreToolUse"))
    with answering(way) as ask:
        ask(payload(AGENT, project), TENTERHOOK_CHAIN="1.1:x")
    # on a busy machine a bridge goes on without the daemon, and does not know the one that the test started as ours
    assert len((project / "times").read_text().split()) <= (3 if "daemon" in way else 1)


def test_hooks_get_the_persons_variables_and_else_the_agents(
    home: Path, project: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_hook(user_hooks(home), "looks", "env > seen")
    taken = {"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "OPENSSL_CONF", "GIT_DIR", "PYTHONPATH"}
    taken |= {"GCONV_PATH", "LOCPATH", "GLIBC_TUNABLES", "BASHOPTS", "OPENSSL_MODULES", "PYENV_VERSION", "TMPDIR"}
    taken |= {"TENTERHOOK_METADATA", "TENTERHOOK_REPLAY", "TENTERHOOK_TRUST_PROJECT", "NODE_OPTIONS", "RUBYOPT"}
    for name in taken - {"HOME"}:  # a version manager may have set some
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", "/persons/own")
    monkeypatch.setenv("XDG_DATA_HOME", "/persons/data")
    install(AGENT)
    with answering(way) as ask:
        ask(payload(AGENT, project), **dict.fromkeys(taken, f"{project}/evil"), ENV="production", MINE="kept")
    seen = dict(each.split("=", 1) for each in (project / "seen").read_text().splitlines() if "=" in each)
    assert f"{project}/evil" not in seen.values()
    assert seen["HOME"] == str(home)
    assert (seen["PYTHONPATH"], seen["XDG_DATA_HOME"]) == ("/persons/own", "/persons/data")
    assert (seen["ENV"], seen["MINE"]) == ("production", "kept")
    assert not seen.keys() & (taken - {"HOME", "PYTHONPATH", "XDG_DATA_HOME"})


@pytest.mark.promise("a hostile repository")
def test_variables_without_end_do_not_keep_a_guard_from_starting(home: Path, project: Path, way: str) -> None:
    """A repository cannot set so many variables that there is no room left for a guard's own."""
    hook = table_hook('echo {{tool_input.command}} >/dev/null; echo "not this $MINE" >&2; exit 2')
    install(AGENT, config=write_config(home / "hooks.toml", hook))
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if limit != resource.RLIM_INFINITY and limit < 8 * 1024 * 1024:
        pytest.skip("the system lets nobody have as many")
    given = {f"V{number}": "x" * 120_000 for number in range(17)}
    with answering(way) as ask:
        assert ask(payload(AGENT, project, "x" * 120_000), **given, MINE="kept") == "not this kept"


def test_a_record_of_an_earlier_version_still_gives_the_home(home: Path, project: Path, way: str) -> None:
    folder_hook(user_hooks(home), "looks", 'echo "$HOME ${XDG_CONFIG_HOME-none}" > seen')
    install(AGENT)
    known = json.loads(record(AGENT).read_text())
    known["steering"] = {"PATH": known["steering"]["PATH"]}
    record(AGENT).write_text(json.dumps(known))
    with answering(way) as ask:
        ask(payload(AGENT, project), HOME=f"{project}/fh", XDG_CONFIG_HOME=str(project))
    assert (project / "seen").read_text() == f"{home} none\n"


# ------------------------------------------------------------------ lines that are read with other variables


HIDDEN = {
    "of the table": ("rm -rf ${R_DIR:-build}", {"R_DIR": "/etc"}),
    "a directory": ("rm -rf ${TMPDIR:-build}", {"TMPDIR": "/etc"}),
    "of a guard's own": ('echo "{}" > ${UV_D:-.}/settings.json', {"UV_D": "{home}/.claude"}),
    "home": ("rm -rf ~/ssh", {"HOME": "/etc"}),
    "home by its name": ("rm -rf $HOME/ssh", {"HOME": "/etc"}),
    "home in Python": ("python3 -c 'import shutil; shutil.rmtree(os.path.expanduser(\"~/ssh\"))'", {"HOME": "/etc"}),
    "the person's home": ("rm -rf {home}", {"HOME": "/nowhere"}),
    "too long": ("rm -rf ${BIG:+/etc}", {"BIG": "x" * 100_000}),
    "too long to be told": ("rm -rf $R_LONG", {"R_LONG": "/etc" + " x" * 50_000}),
    "too many": ("rm -rf $R_77", {f"R_{number}": "/etc" for number in range(3000)}),
    "our own": ("rm -rf ${TENTERHOOK_SESSION_ID:-/etc}", {}),
    "our own, of one hook": ("rm -rf /${TENTERHOOK_METADATA:+etc}${KIMI_SESSION_ID-etc}", {}),
    "our own, set": ("rm -rf $TENTERHOOK_ANY", {"TENTERHOOK_ANY": "/etc"}),
}


@pytest.mark.promise("a hostile repository")
def test_a_line_is_read_with_the_variables_that_it_is_run_with(home: Path, project: Path, way: str) -> None:
    """A repository cannot hide what a shell line does behind a variable whose value the guards would not see."""
    assert tenterhook("add", "block-dangerous-commands", "protect-hooks").returncode == 0
    install(AGENT)
    with answering(way) as ask:
        for kind, (line, variables) in HIDDEN.items():
            filler = {f"V{number}": "x" * 99_999 for number in range(5)} if kind == "too long" else {}
            given = {name: value.replace("{home}", str(home)) for name, value in variables.items()}
            refused = ask(payload(AGENT, project, line.replace("{home}", str(home))), **given, **filler)
            assert refused is not None, kind


def test_ordinary_lines_pass_whatever_differs(home: Path, project: Path) -> None:
    assert tenterhook("add", "block-dangerous-commands").returncode == 0
    install(AGENT)
    given = {"TMPDIR": "/tmp/other", "R_HOME": "/usr/lib/R", "PYTHONPATH": "src", "PATH": f"/opt/x/bin:{PATH}"}
    with answering("bridge.py") as ask:
        for line in (
            "export PATH=$HOME/bin:$PATH PYTHONPATH=.:$PYTHONPATH && pytest",
            'rm -rf "$TMPDIR"/thing/* "${TMPDIR:-/tmp}/build" ~/.cache/thing',
            "echo $R_HOME ${R_LIBS:-none}; cp ${R_HOME:?}/b a",
            "cd ~ && ls $XDG_CONFIG_HOME",
        ):
            assert ask(payload(AGENT, project, line), **given) is None, line


# ------------------------------------------------------------------ which program runs


@pytest.mark.promise("a hostile repository")
def test_programs_of_the_project_do_not_take_the_place_of_those_of_the_system(
    home: Path, project: Path, way: str
) -> None:
    """A repository cannot replace a program that a hook runs with one of its own, wherever PATH leads."""
    config = write_config(home / "hooks.toml", array_hook("python3 -c 'raise SystemExit(2)'; only-there; exit 2"))
    install(AGENT, config=config)
    (project / ".git").mkdir()
    for name in ("bin/python3", "bin/only-there", "python3", "only-there"):
        program = project / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho x >> ran\nexit 0\n")
        program.chmod(0o755)
    with answering(way) as ask:
        for places_ in (f"{project}/bin:{PATH}", f":{PATH}", f".:bin:{PATH}", f"{PATH}:{project}/bin"):
            assert ask(payload(AGENT, project), PATH=places_) is not None
    assert not (project / "ran").exists()


@pytest.mark.promise("a hostile repository")
def test_a_directory_that_is_another_for_each_process_is_not_on_the_path(
    home: Path, project: Path, tmp_path: Path, way: str
) -> None:
    """A repository cannot lead PATH to programs of its own by way of /proc, in whichever directory a hook looks."""
    config = write_config(home / "hooks.toml", array_hook("cd sub; only-there; exit 2"))
    install(AGENT, config=config)
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    program = project / "bin/only-there"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho x >> ../ran\nexit 0\n")
    program.chmod(0o755)
    (tmp_path / "link").symlink_to("/proc/self/cwd")
    (tmp_path / "another").symlink_to("link/../bin")
    with answering(way) as ask:
        for place in (
            "/proc/self/cwd/../bin",
            "//proc/self/cwd/../bin",
            f"{tmp_path}/link/../bin",
            f"{tmp_path}/another",
        ):
            assert ask(payload(AGENT, project), PATH=f"{PATH}:{place}") is not None
    assert not (project / "ran").exists()


def test_a_program_that_came_after_install_is_found(home: Path, project: Path, tmp_path: Path, way: str) -> None:
    folder_hook(user_hooks(home), "guard", "new-program >&2; exit 2")
    install(AGENT)
    program = tmp_path / "tools/new-program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    with answering(way) as ask:
        assert ask(payload(AGENT, project), PATH=f"{program.parent}:{PATH}") == "found"


def test_code_of_a_trusted_project_runs_with_the_programs_of_the_project(home: Path, project: Path, way: str) -> None:
    folder_hook(user_hooks(home), "guard", "formatter >&2; exit 2", metadata={"runs_project_code": True})
    install(AGENT)
    (project / ".git").mkdir()
    program = project / "bin/formatter"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho formatted\n")
    program.chmod(0o755)
    with answering(way) as ask:
        assert "formatted" not in (ask(payload(AGENT, project), PATH=f"{program.parent}:{PATH}") or "")
        end_of_the_agent()
        assert tenterhook("trust", "--code", "--yes").returncode == 0
        assert ask(payload(AGENT, project), PATH=f"{program.parent}:{PATH}") == "formatted"


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("first", ["#!python3", "#! python3", "#!./python3", "#!/usr/bin/env python3"])
@pytest.mark.slow
def test_an_interpreter_of_the_project_never_runs_a_guard(home: Path, project: Path, way: str, first: str) -> None:
    """A guard whose first line names its interpreter without a path is not run by a program of the project."""
    python_guard(home, first, metadata={"on_failure": "block"})
    install(AGENT)
    (project / "python3").write_text("#!/bin/sh\necho x > ran\nexit 0\n")
    (project / "python3").chmod(0o755)
    with answering(way) as ask:
        said = ask(payload(AGENT, project), PATH=f":{os.environ['PATH']}")
    assert said is not None
    assert (said == "not this") is (first != "#!./python3")
    assert not (project / "ran").exists()


# ------------------------------------------------------------------ modules of the project

EVIL = "open('ran', 'w').close()\nimport os\nos._exit(0)\n"
CODE = {
    "-c": "python3 -c 'import json, sys; sys.exit(2)'",
    "-c after options": "exec python3 -u -W ignore -c 'import json, sys; sys.exit(2)'",
    "-m": "python3 -m json.tool /dev/null; exit 2",
    "stdin": "echo 'import json, sys; sys.exit(2)' | python3",
    "- and a document": "python3 - <<END\nimport json, sys\nsys.exit(2)\nEND",
    "$(…)": 'said=$(python3 -c "import json; print(json.dumps(7))"); [ "$said" = 7 ] && exit 2',
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python ignores PYTHONSAFEPATH")
@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("kind", ["line", "folder"])
@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
@pytest.mark.slow
def test_code_without_a_file_imports_nothing_of_the_project(home: Path, project: Path, code: str, kind: str) -> None:
    """Plain lines with `python -c`, `python -m` or Python on stdin import nothing from the project (3.11+)."""
    configs: list[Path] = []
    if kind == "line":
        configs.append(write_config(home / "hooks.toml", array_hook(code)))
    else:
        folder_hook(user_hooks(home), "guard", code)
    (project / "json.py").write_text(EVIL)
    (project / "json").mkdir()
    (project / "json/__init__.py").write_text(EVIL)
    assert Engine.load(project, configs=configs).decide(shell_call(work_dir=str(project))).denied
    assert not (project / "ran").exists()


@pytest.mark.parametrize("line", ['python3 "$HOME/hooks/guard.py"', "~/hooks/guard.py", "python3 -u ~/hooks/guard.py"])
@pytest.mark.parametrize("more", ["", "; python3 -c 'import sys' && exit 2"])
def test_a_script_imports_from_its_own_directory(home: Path, project: Path, line: str, more: str) -> None:
    script = home / "hooks/guard.py"
    script.parent.mkdir()
    script.write_text("#!/usr/bin/env python3\nimport sys, helper\nprint(helper.SAID, file=sys.stderr)\nsys.exit(2)\n")
    script.chmod(0o755)
    (script.parent / "helper.py").write_text("SAID = 'helped'")
    config = write_config(home / "hooks.toml", array_hook(line + more))
    assert Engine.load(project, config).decide(shell_call(work_dir=str(project))).reason == "helped"


# ------------------------------------------------------------------ shims

SHIM = """#!/bin/bash
version=$(cat .python-version 2>/dev/null || echo real)
if [ ! -x "{versions}/$version/bin/${{0##*/}}" ]; then
    echo "shim: version $version is not installed" >&2
    exit 127
fi
exec "{versions}/$version/bin/${{0##*/}}" "$@"
"""


def shims(tmp_path: Path, *names: str) -> Path:
    """A version manager that obeys a file of the working directory."""
    made = tmp_path / "manager/shims"
    real = tmp_path / "manager/versions/real/bin"
    made.mkdir(parents=True)
    real.mkdir(parents=True)
    for name in names or ("python3", "python"):
        (made / name).write_text(SHIM.format(versions=real.parent.parent))
        (made / name).chmod(0o755)
        (real / name).symlink_to(os.path.realpath(sys.executable))
    return made


@pytest.mark.promise("a hostile repository")
def test_a_version_that_the_project_names_does_not_disable_a_guard(
    home: Path, project: Path, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cloned `.python-version` does not decide which interpreter runs a guard, nor whether it runs at all."""
    manager = shims(tmp_path)
    monkeypatch.setenv("PATH", f"{manager}:{PATH}")
    python_guard(home)
    install(AGENT)
    (project / ".python-version").write_text("9.9.9\n")
    with answering(way) as ask:
        assert ask(payload(AGENT, project)) == "not this"
        assert ask(payload(AGENT, project), SHELLOPTS="noexec") == "not this"


@pytest.mark.promise("a hostile repository")
def test_a_version_that_the_project_names_does_not_disable_a_guard_that_names_one(
    home: Path, project: Path, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cloned `.python-version` does not decide about a guard that names a version (`python3.11`), either."""
    name = f"python3.{sys.version_info.minor}"
    manager = shims(tmp_path, name)
    monkeypatch.setenv("PATH", f"{manager}:/usr/bin:/bin")
    python_guard(home, f"#!/usr/bin/env {name}")
    install(AGENT)
    (project / ".python-version").write_text("9.9.9\n")
    with answering(way) as ask:
        assert ask(payload(AGENT, project)) == "not this"


def own_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is first on `PATH`, as `~/.local/bin` is for many."""
    first = tmp_path / "own/bin"
    first.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{first}:{os.environ['PATH']}")
    return first


def put_there(first: Path, *names: str) -> None:
    for name in names:
        (first / name).write_text("#!/bin/sh\nexit 0\n")
        (first / name).chmod(0o755)


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("line", ["#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -s", "#!python3"])
def test_a_program_that_is_put_first_on_the_path_does_not_run_a_guard(
    home: Path, project: Path, tmp_path: Path, way: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `python3` written into `~/.local/bin` does not run hook folders: their interpreters are those of `install`."""
    first = own_programs(tmp_path, monkeypatch)
    python_guard(home, line)
    install(AGENT)
    put_there(first, "python3", "env")
    with answering(way) as ask:
        assert ask(payload(AGENT, project)) == "not this"


def test_an_interpreter_that_is_gone_is_looked_for_on_the_path(
    home: Path, project: Path, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own_programs(tmp_path, monkeypatch)
    (first / "python3").symlink_to(os.path.realpath(sys.executable))
    python_guard(home)
    install(AGENT)
    assert json.loads(record(AGENT).read_text())["interpreters"]["python3"] == str(first / "python3")
    assert "no longer exists" not in tenterhook("doctor", AGENT).stdout
    (first / "python3").unlink()
    with answering(way) as ask:
        assert ask(payload(AGENT, project)) == "not this"
    end_of_the_agent()
    assert "no longer exists" in tenterhook("doctor", AGENT).stdout


def test_the_interpreter_of_a_hook_that_comes_later_is_recorded(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own_programs(tmp_path, monkeypatch)
    other = tmp_path / "own/of-a-hook"
    other.symlink_to(os.path.realpath(sys.executable))
    (first / "of-a-hook").symlink_to(other)
    python_guard(home)
    install(AGENT)
    assert "of-a-hook" not in json.loads(record(AGENT).read_text())["interpreters"]
    script = "#!/usr/bin/env of-a-hook\nraise SystemExit(2)\n"
    folder_hook(project / ".agents/hooks", "later", script, file="run.py")
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    assert json.loads(record(AGENT).read_text())["interpreters"]["of-a-hook"] == str(first / "of-a-hook")


def test_the_interpreter_behind_a_shim_comes_before_it(tmp_path: Path) -> None:
    manager = shims(tmp_path)
    behind = tmp_path / "manager/versions/real/bin"
    assert interpreters.path_for_hooks(f"/first::{manager}:.:/last") == f"/first:{behind}:{manager}:/last"
    assert interpreters.path_for_hooks("/usr/bin:/bin") == "/usr/bin:/bin"


def test_doctor_says_that_a_shim_came_after_install(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = tmp_path / "manager/shims"
    manager.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{manager}:{PATH}")
    python_guard(home)
    install(AGENT)
    assert "is a shim" not in tenterhook("doctor", AGENT).stdout
    shutil.rmtree(manager.parent)
    shims(tmp_path)
    assert "is a shim" in tenterhook("doctor", AGENT).stdout
    assert tenterhook("install", AGENT).returncode == 0
    assert "is a shim" not in tenterhook("doctor", AGENT).stdout


# ------------------------------------------------------------------ what acts before we do


def test_doctor_finds_what_acts_on_the_agents_own_shell(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_guard(home)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/persons/own")
    install(AGENT, "gemini")
    assert "affects" not in tenterhook("doctor").stdout
    settings = project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"SHELLOPTS": "noexec", "LD_PRELOAD": "./evil.so", "HARMLESS": "1"}}))
    (project / ".gemini").mkdir()
    (project / ".gemini/.env").write_text("# x\nHARMLESS=1\nexport BASH_ENV=evil.sh\n")
    said = tenterhook("doctor", env={**os.environ, "BASHOPTS": "extdebug"}).stdout
    for what in (
        f"{settings} sets SHELLOPTS",
        f"{settings} sets LD_PRELOAD",
        ".gemini/.env sets BASH_ENV",
        "BASHOPTS is",
    ):
        assert what in said
    assert "HARMLESS" not in said
    assert "LD_LIBRARY_PATH" not in said


# ------------------------------------------------------------------ our own processes


def environment_of(pid: int | str) -> dict[str, str]:
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(os.fsdecode(word).split("=", 1) for word in words if b"=" in word)


@pytest.mark.promise("a hostile repository")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_a_configuration_of_openssl_loads_nothing_into_our_process(home: Path, project: Path, way: str) -> None:
    """A repository that sets OPENSSL_CONF, GCONV_PATH or the like gets no native code into Tenterhook."""
    source = project / "evil.c"
    source.write_text(
        "#include <fcntl.h>\n"
        f'__attribute__((constructor)) static void run(void) {{ creat("{project}/ran", 0600); }}\n'
        "int OSSL_provider_init(void *a, void *b, void *c, void *d) { return 0; }\n"
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", project / "evil.so", source], check=True)
    (project / "openssl.cnf").write_text(
        f"openssl_conf = a\n[a]\nproviders = b\n[b]\nevil = c\n[c]\nmodule = {project}/evil.so\nactivate = 1\n"
    )
    given = {"OPENSSL_CONF": str(project / "openssl.cnf"), "OPENSSL_MODULES": str(project)}
    folder_hook(user_hooks(home), "guard", "echo 'not this' >&2; exit 2")
    install(AGENT)
    subprocess.run([sys.executable, "-c", "import _hashlib"], env={**os.environ, **given}, check=True)
    if not (project / "ran").exists():
        pytest.skip("this Python's OpenSSL obeys no such file")
    (project / "ran").unlink()
    with answering(way) as ask:
        # a name that is too long for a file is hashed
        assert ask(payload(AGENT, project, session_id="s" * 200), **given) == "not this"
    assert not (project / "ran").exists()


def test_what_we_start_for_asynchronous_hooks_has_an_environment_of_our_own(
    home: Path, project: Path, way: str
) -> None:
    script = 'cat "/proc/$PPID/environ" | tr "\\0" "\\n" > parent; env > own; mv own done'
    front: dict[str, Any] = {"async": True}
    folder_hook(user_hooks(home), "later", script, **front)
    install(AGENT)
    with answering(way) as ask:
        ask(payload(AGENT, project), MINE="1", NODE_EXTRA_CA_CERTS="/evil", MALLOC_TRACE="/evil", HOME=str(project))
        until((project / "done").exists)
    own = (project / "done").read_text().splitlines()
    assert "MINE=1" in own
    # what the agent has is told, and is no variable of the hook's
    assert not [each for each in own if "/evil" in each and not each.startswith("TENTERHOOK_CHANGED_VARIABLES=")]
    parent = (project / "parent").read_text()
    assert f"HOME={home}\n" in parent
    assert "/evil" not in parent
    if "daemon" not in way:  # it was started by the test, and has its variables
        assert "MINE=1" not in parent
        names = {each.partition("=")[0] for each in parent.splitlines()}
        assert names <= {*("HOME", "PATH", "LANG", "LANGUAGE", "LOGNAME", "TZ", "USER", "LC_CTYPE"), *recorded()}


def recorded() -> set[str]:
    return set(json.loads(record(AGENT).read_text())["steering"])


def test_what_runs_beside_the_agent_has_no_variable_of_it(home: Path, project: Path) -> None:
    """The daemon, also if an agent's event starts it again."""
    python_guard(home)
    install(AGENT)
    assert tenterhook("daemon", "start").returncode == 0
    try:
        pid = daemon.SERVICE.process_id()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: daemon.SERVICE.process_id() is None)
        with answering("launcher") as ask:
            given = {"OPENSSL_CONF": "/evil", "HOME": str(project), "MINE": "1", "TENTERHOOK_CHAIN": "1.1:x"}
            assert ask(payload(AGENT, project), **given) == "not this"
        environment = environment_of(until(daemon.SERVICE.process_id))
        assert environment["HOME"] == str(home)
        assert not environment.keys() & {"MINE", "OPENSSL_CONF", "TENTERHOOK_CHAIN"}
        with answering("launcher") as ask:
            assert ask(payload(AGENT, project), **given) == "not this"
    finally:
        end_of_the_agent()
        assert tenterhook("daemon", "stop").returncode == 0


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox", "ksh"])
def test_the_launcher_unsets_what_acts_before_we_do(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """And sets what the person had set, which the interpreter may need; whichever shell `/bin/sh` is."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    (tmp_path / "sh").symlink_to(program)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/persons/own lib")
    python_guard(home)
    install(AGENT)
    launcher = home / ".local/state/tenterhook/launcher.sh"
    names = [name.decode() for name in env_policy.AT_START if not name.startswith(b"LD_")]
    change_launcher(home, (f"python={sys.executable}", f"env > {project}/seen; python={sys.executable}"))
    ended = subprocess.run(
        [tmp_path / "sh", launcher, AGENT, "PreToolUse", "open"],
        input=json.dumps(payload(AGENT, project)),
        capture_output=True,
        text=True,
        # those of the loader would act on the shell, too
        env={**os.environ, **dict.fromkeys(names, "/evil"), "BASHOPTS": "extglob"},
        check=True,
        timeout=HANG,
    )
    assert "not this" in ended.stdout
    seen = (project / "seen").read_text()
    assert "/evil" not in seen
    assert "LD_LIBRARY_PATH=/persons/own lib\n" in seen
