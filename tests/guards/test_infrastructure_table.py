"""The table of infrastructure programs: its rows are sound."""

from __future__ import annotations

from tenterhook.guards import infrastructure
from tenterhook.guards.calls import ASK, DENY
from tenterhook.guards.infrastructure_table import OTHER_VERBS, PASS, ROWS, VERBS


def test_the_table_has_programs_of_every_class_and_known_decisions() -> None:
    names = {name for programs, *_ in ROWS for name in programs.split()}
    assert len(names) > 60
    assert {kind for *_, kind in ROWS} == set(infrastructure.RULES)
    assert {decision for _, _, decision, _ in ROWS} == {ASK, DENY, PASS}
    assert all(name == name.lower() for name in names)


def test_a_verb_that_deletes_is_none_of_the_others() -> None:
    assert not VERBS & OTHER_VERBS


def test_only_a_whole_row_may_be_without_subcommands() -> None:
    for programs, phrases, *_ in ROWS:
        assert phrases == "" or all(phrase.strip() for phrase in phrases.split("|")), programs
