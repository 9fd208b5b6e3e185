"""Variables that are never taken from an agent: what hooks inherit instead, and what they are told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenterhook.basics import env_policy

RECORD: dict[str, Any] = {
    "home": "/home/me",
    "config": "/home/me/.config",
    "state": "/s/tenterhook",
    "cache": "/c/tenterhook",
}
RECORD |= {"environment": {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/opt/lib"}}


def test_what_decides_which_code_runs_comes_from_the_record_and_the_rest_from_the_agent() -> None:
    given = {b"HOME": b"/evil", b"LD_PRELOAD": b"/evil.so", b"GIT_DIR": b"/evil", b"XDG_STATE_HOME": b"/evil"}
    given |= {b"TENTERHOOK_STATE_DIR": b"/evil", b"TENTERHOOK_CHAIN": b"1", b"LANG": b"C", b"GIT_TOKEN": b"t"}
    made = env_policy.inherited(given, RECORD, "/nowhere")
    assert made == {
        **{b"HOME": b"/home/me", b"LD_LIBRARY_PATH": b"/opt/lib", b"PATH": b"/usr/bin:/bin"},
        **{b"XDG_STATE_HOME": b"/s", b"XDG_CACHE_HOME": b"/c"},
        **{b"TENTERHOOK_CHAIN": b"1", b"LANG": b"C", b"GIT_TOKEN": b"t"},
    }


def test_programs_of_the_project_are_found_last_and_only_if_the_person_had_them(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    own = f"{project}/node_modules/.bin"
    record = {**RECORD, "environment": {"PATH": f"{own}:relative:/usr/bin"}}
    given = {b"PATH": f"{project}/bin:/new/tools:bin:/proc/self/cwd:{own}".encode()}
    made = env_policy.inherited(given, record, str(project / "below"))
    assert made[b"PATH"].decode() == f"/usr/bin:/new/tools:{own}"


def test_variables_that_no_process_could_be_started_with_are_dropped_largest_first() -> None:
    given = {b"HUGE": b"x" * 600_000, b"SMALL": b"x"}
    made = env_policy.inherited(given, RECORD, "/nowhere")
    assert b"HUGE" not in made
    assert made[b"SMALL"] == b"x"


def test_a_process_of_ours_has_its_proxies_and_languages_and_no_chain() -> None:
    given = {
        "LC_ALL": "C",
        "https_proxy": "p",
        "NO_PROXY": "x",
        "TENTERHOOK_CHAIN": "1",
        "AWS_PROFILE": "a",
        "TZ": "UTC",
    }
    assert set(env_policy.for_own_process(given)) == {"LC_ALL", "https_proxy", "NO_PROXY", "TZ"}


def test_what_differs_is_told_and_bounded() -> None:
    made = {b"HOME": b"/home/me", b"SAME": b"1", b"OURS": b"x"}
    given = {b"HOME": b"/etc", b"SAME": b"1", b"R_DIR": b"\xff", b"BASH_FUNC_x%%": b"() { :; }"}
    assert env_policy.changed(given, made) == {"HOME": "/etc", "R_DIR": "\udcff", "OURS": None}
    assert env_policy.changed({**given, b"LONG": b"x" * 20_000}, made)["LONG"] is True
    assert env_policy.changed({b"V%d" % number: b"" for number in range(10_000)}, made) == {"*": True}


def test_the_table_has_no_name_that_a_document_reads() -> None:
    assert not env_policy.is_from_record(b"ENV")
    assert all(env_policy.is_from_record(name) for name in env_policy.AT_START)
    for name in (
        "NODE_ENV",
        "GITHUB_TOKEN",
        "HOMEBREW_PREFIX",
        "CLAUDE_PROJECT_DIR",
        "BASH_MAX_TIMEOUT_MS",
        "LANG",
        "GIT_TOKEN",
    ):
        assert not env_policy.is_from_record(name.encode()), name


def test_the_contract_names_every_variable_of_the_table() -> None:
    contract = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    kinds = [f"`{kind.decode()}*`" for kind in env_policy._KINDS]
    names = [f"`{name.decode()}`" for name in env_policy._NAMES if not name.startswith(env_policy._KINDS)]
    assert [each for each in (*kinds, *names) if each not in contract] == []
