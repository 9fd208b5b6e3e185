"""Hashes of our hooks in an agent's TOML settings: added, replaced and removed without touching the rest."""

from __future__ import annotations

import tomllib

import pytest

from tenterhook.agents.protocol import TrustTable
from tenterhook.install import text_edits, trust_tables

TRUST = TrustTable("config.toml", "hooks.state", "trusted_hash")
OURS = {'/a "b"/hooks.json:stop:0:0': "sha256:01", "/a/hooks.json:pre_tool_use:1:0": "sha256:02"}
THEIRS = b'[hooks.state."/x:stop:0:0"]\ntrusted_hash = "sha256:00"\nenabled = false\n'


@pytest.mark.parametrize(
    "before",
    [b"", b'model = "o5"', b'model = "o5"\r\n\r\n', b"\xef\xbb\xbfa = 1\n", THEIRS, b"[a]\nb = 1 # no end"],
)
def test_hashes_are_added_once_and_removed_to_the_byte(before: bytes) -> None:
    edited = trust_tables.with_hashes(TRUST, before, OURS)
    assert OURS.items() <= trust_tables.given(TRUST, edited).items()
    assert trust_tables.with_hashes(TRUST, edited, OURS) == edited
    assert trust_tables.without(TRUST, edited, OURS) == before


def test_a_hash_that_changed_is_replaced_and_an_old_key_is_removed() -> None:
    first, second = OURS
    edited = trust_tables.with_hashes(TRUST, THEIRS, OURS)
    edited = trust_tables.with_hashes(TRUST, edited, {second: "sha256:03"}, old=[first, second])
    assert trust_tables.given(TRUST, edited) == {"/x:stop:0:0": "sha256:00", second: "sha256:03"}


def test_a_key_that_the_agent_added_to_our_table_goes_with_it() -> None:
    (key, *_) = OURS
    edited = trust_tables.with_hashes(TRUST, b"a = 1\n", {key: OURS[key]})
    switched_off = edited.rstrip(b"\n") + b"\nenabled = false\n\n[b]\nc = 1\n"
    assert tomllib.loads(trust_tables.without(TRUST, switched_off, [key]).decode()) == {"a": 1, "b": {"c": 1}}


@pytest.mark.parametrize(
    ("config", "line", "says"),
    [
        (b"a = 1\nhooks = { state = {} }\n", 2, "hooks.state"),
        (b'a = 1\n[hooks]\nstate = "none"\n', 3, "`state` is not a table"),
        (b"a =\n", 1, "not TOML"),
    ],
)
def test_settings_with_no_place_for_a_hash_are_refused_with_their_line(config: bytes, line: int, says: str) -> None:
    with pytest.raises(text_edits.EditRefused, match=says) as refused:
        trust_tables.with_hashes(TRUST, config, OURS)
    assert refused.value.line == line
    assert refused.value.remedy
