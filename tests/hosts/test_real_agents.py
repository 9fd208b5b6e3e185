"""Hooks in the real agents, driven by a scripted model: what a HOOK.md folder says is what happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hosts import agents, real
from hosts.opencode_server import AskingOpencode
from hosts.real import WITHOUT_PROMPTS, results_with, shown, told
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import AUTO_APPROVE, DONE, MODES, PLAIN, PROMPT, Agent
from tenterhook.basics.model_script import Turn
from tenterhook.doctor.live.model import ScriptedModel

if TYPE_CHECKING:
    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
EVERY = pytest.mark.parametrize("name", agents.PACKAGES)

# What each agent can do with an answer, as observed; tests/hosts hold it to that in both directions.
REWRITES = ("claude-code", "codex", "gemini", "copilot", "droid", "vibe", "pi", "hermes", "cline", "opencode")
REPLACES_OUTPUT = ("claude-code", "codex", "gemini", "qwen", "copilot", "vibe", "pi", "hermes", "cline", "opencode")
APPROVES = ("claude-code", "copilot", "cline", "opencode")  # and Droid, which asks nobody headless
ANSWERS = ("claude-code", "copilot", "opencode")  # the others have no event for their own question
CANNOT_HOLD_PROMPTS = ("hermes",)  # a hook's answer to one can only add context
STOP_AFTER_CHANGES = ("hermes",)  # their event for a stop fires only in a turn that has changed a file
CONTEXT = {
    "kimi-cli": (),
    "kimi-code": ("pre-agent-turn",),
    "claude-code": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "codex": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "gemini": ("pre-session", "pre-agent-turn", "post-tool-call"),
    "qwen": ("pre-session", "pre-agent-turn", "post-tool-call"),
    "copilot": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "droid": ("pre-session", "post-tool-call"),
    "pi": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "vibe": ("post-tool-call",),
    "openhands": ("pre-agent-turn",),
    "hermes": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "cline": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
    "opencode": ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
}
WITHOUT_GATES = ("cline",)  # headless they end with their answer; tests/hosts/test_terminal.py has the gate
WRITE_THEIR_SETTINGS = ("gemini", "qwen", "cline")  # anew when they start: nobody could leave them as they were
CONTINUATIONS = {"kimi-cli": 1, "kimi-code": 1}  # the others' hooks may send them back three times
GATED = pytest.mark.parametrize("name", [name for name in agents.PACKAGES if name not in WITHOUT_GATES])


@EVERY
@pytest.mark.parametrize("mode", MODES)
def test_a_guard_refuses_a_command_and_a_file_and_lets_the_rest_run(name: str, mode: str, guarded: Guarded) -> None:
    if mode not in AGENTS[name].modes:
        pytest.skip(f"{name} {mode}: {AGENTS[name].missing_modes[mode]}")
    no_command = guarded.guard("no-command", pattern="forbidden")
    no_file = guarded.guard("no-file", tool="WriteFile", pattern=r"secret\.txt$")
    guarded.install()
    came = guarded.calls(guarded.touch("forbidden"), guarded.write("secret.txt"), guarded.touch("harmless"), mode=mode)
    assert not guarded.left("forbidden"), shown(came)
    assert not guarded.left("secret.txt"), shown(came)
    assert guarded.left("harmless"), shown(came)
    assert results_with(came, no_command), shown(came)
    assert results_with(came, no_file), shown(came)


@EVERY
def test_uninstalled_the_settings_are_as_they_were_and_the_same_calls_run(name: str, guarded: Guarded) -> None:
    guarded.guard("no-command", pattern="forbidden")
    guarded.guard("no-file", tool="WriteFile", pattern=r"secret\.txt$")
    forbidden = guarded.touch("forbidden"), guarded.write("secret.txt")
    with ScriptedModel(guarded.live.script(AUTO_APPROVE, *forbidden)) as model:
        guarded.live.prepare(guarded.home, model.url)
        before = guarded.settings()
        guarded.install()
        assert guarded.settings() != before
        if name in WRITE_THEIR_SETTINGS:
            guarded.uninstall()
            assert guarded.settings() == before
            guarded.install()
        came = guarded.run(model=model)
        assert not guarded.left("forbidden"), shown(came)
        assert not guarded.left("secret.txt"), shown(came)
        guarded.uninstall()
        if name not in WRITE_THEIR_SETTINGS:
            assert guarded.settings() == before
    assert not guarded.hooks_file.exists() or "hooks" not in guarded.hooks_file.read_text()
    came = guarded.calls(*forbidden)
    assert guarded.left("forbidden"), shown(came)
    assert guarded.left("secret.txt"), shown(came)


@EVERY
def test_a_changed_input_is_what_runs_or_the_model_is_told_to_use_it(name: str, guarded: Guarded) -> None:
    changed = {"command": f"touch {guarded.project / 'changed'}"}
    guarded.hook("change", says(decision="allow", modified_input=changed), matcher={"pattern": "original"})
    guarded.install()
    came = guarded.calls(guarded.touch("original"))
    assert not guarded.left("original"), shown(came)
    assert guarded.left("changed") == (name in REWRITES), shown(came)
    if name not in REWRITES:
        assert results_with(came, changed["command"]), shown(came)


@EVERY
def test_context_reaches_the_model_where_the_agent_takes_it(name: str, guarded: Guarded) -> None:
    events = ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call")
    for event in events:
        guarded.hook(event, says(decision="allow", additional_context=f"note of {event}"), event)
    guarded.install()
    came = guarded.calls(guarded.shell("printf %s-%s-%s the output is"))
    assert [event for event in events if told(came, f"note of {event}")] == list(CONTEXT[name]), shown(came)
    assert results_with(came, "the-output-is"), shown(came)


@EVERY
def test_a_hook_replaces_the_output_that_the_model_sees_or_its_reason_is_beside_it(name: str, guarded: Guarded) -> None:
    reason, answer = "not for the model", "a note beside it"
    replacing = says(modified_output="replaced by a hook", reason=reason, additional_context=answer)
    guarded.hook("replace", replacing, "post-tool-call", matcher={"tool": "Shell"})
    guarded.install()
    came = guarded.calls(guarded.shell("printf %s-%s-%s the output is"))
    replaces = name in REPLACES_OUTPUT
    assert told(came, "the-output-is") != replaces, shown(came)
    assert bool(results_with(came, "replaced by a hook")) == replaces, shown(came)
    heard = "post-tool-call" in CONTEXT[name]
    assert told(came, answer) == heard, shown(came)
    assert told(came, reason) == (heard and not replaces), shown(came)


@pytest.mark.parametrize("name", ["cline"])
def test_a_replaced_output_or_error_is_all_that_the_model_sees(name: str, guarded: Guarded) -> None:
    for event in ("post-tool-call", "post-tool-call-failure"):
        guarded.hook(event, says(modified_output=f"replaced at {event}"), event, matcher={"tool": "Shell"})
    guarded.install()
    succeeds, fails = guarded.shell("printf %s-%s the output"), guarded.shell("printf %s-%s the error; exit 3")
    came = guarded.calls(succeeds, fails)
    assert results_with(came, "replaced at post-tool-call") == list(came.tool_results), shown(came)
    assert results_with(came, "replaced at post-tool-call-failure") == [came.tool_results[1]], shown(came)
    assert not told(came, "the-output"), shown(came)
    assert not told(came, "the-error"), shown(came)


@GATED
def test_a_stop_gate_sends_the_agent_back_with_the_reason(name: str, guarded: Guarded) -> None:
    reason = "the report is missing"
    script = f'[ -e "$KIMI_PROJECT_DIR/report" ] || {{ echo "{reason}" >&2; exit 2; }}'
    guarded.hook("gate", script, "pre-agent-turn-stop")
    guarded.install()
    came = guarded.run(
        *changes(guarded),
        Turn(text="I stop here.", unless=reason),
        Turn(calls=(guarded.touch("report"),), when=reason),
        Turn(text=DONE, when=reason),
    )
    assert guarded.left("report"), shown(came)


@GATED
def test_a_gate_that_always_blocks_does_not_keep_the_agent_for_ever(name: str, guarded: Guarded) -> None:
    guarded.hook("gate", 'echo asked >>"$KIMI_PROJECT_DIR/asked"; echo never >&2; exit 2', "pre-agent-turn-stop")
    guarded.install()
    came = guarded.run(*changes(guarded), Turn(text="I stop here.", sticky=True))
    answers = [request for request in came.requests if request.turn is not None]
    most = CONTINUATIONS.get(name, 3)
    assert len(answers) == len(changes(guarded)) + 1 + most, shown(came)
    assert (guarded.project / "asked").read_text().count("asked") == most


def changes(guarded: Guarded) -> tuple[Turn, ...]:
    """A turn in which a file is changed, for agents that ask no stop hook without one."""
    return (Turn(calls=(guarded.write("changed.py"),)),) if guarded.live.name in STOP_AFTER_CHANGES else ()


@pytest.mark.parametrize("name", CANNOT_HOLD_PROMPTS)
def test_where_a_prompt_cannot_be_held_back_the_model_is_told_why_it_should_be(name: str, guarded: Guarded) -> None:
    guarded.hook("not-now", "echo not now >&2; exit 2", "pre-agent-turn")
    guarded.install()
    came = guarded.calls(guarded.touch("ran"))
    assert told(came, "not now"), shown(came)
    assert "block: it has no effect" in guarded.doctor()[1]


@pytest.mark.parametrize(
    "name", [name for name in agents.PACKAGES if name not in (*WITHOUT_PROMPTS, *CANNOT_HOLD_PROMPTS)]
)
def test_a_blocked_prompt_reaches_no_model(name: str, guarded: Guarded) -> None:
    guarded.hook("not-now", "echo not now >&2; exit 2", "pre-agent-turn")
    guarded.install()
    came = guarded.calls(guarded.touch("ran"))
    assert not told(came, PROMPT), shown(came)
    assert not guarded.left("ran"), shown(came)


@EVERY
def test_what_a_hook_wants_asked_does_not_run_where_nobody_can_answer(name: str, guarded: Guarded) -> None:
    reason = "a person should look at this"
    guarded.hook("ask", says(decision="ask", reason=reason), matcher={"pattern": "doubtful"})
    guarded.install()
    came = guarded.calls(guarded.touch("doubtful"))
    assert not guarded.left("doubtful"), shown(came)
    assert results_with(came, reason), shown(came)


@pytest.mark.parametrize("name", APPROVES)
def test_a_hook_approves_what_the_agent_would_ask_about(name: str, guarded: Guarded) -> None:
    approve = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    guarded.hook("approve", says(hookSpecificOutput=approve), matcher={"tool": "Shell", "pattern": "approved"})
    guarded.install()
    guarded = guarded._replace(live=asking(name))
    came = guarded.calls(guarded.touch("approved"), mode=PLAIN)
    assert guarded.left("approved"), shown(came)
    came = guarded.calls(guarded.touch("unknown"), mode=PLAIN)
    assert not guarded.left("unknown"), shown(came)


@pytest.mark.parametrize("name", ANSWERS)
def test_hooks_answer_the_agents_own_question(name: str, guarded: Guarded) -> None:
    grant, refuse = says(decision="allow"), says(decision="deny", reason="the answer is no")
    guarded.hook("grant", grant, "permission-request", matcher={"tool": "Shell", "pattern": "granted"})
    guarded.hook("refuse", refuse, "permission-request", matcher={"tool": "Shell", "pattern": "refused"})
    guarded.install()
    guarded = guarded._replace(live=asking(name))
    came = guarded.calls(guarded.touch("granted"), mode=PLAIN)
    assert guarded.left("granted"), shown(came)
    came = guarded.calls(guarded.touch("refused"), mode=PLAIN)
    assert not guarded.left("refused"), shown(came)
    assert results_with(came, "the answer is no"), shown(came)


def asking(name: str) -> Agent:
    """The agent without the flags that allow its tools beforehand."""
    if name == "opencode":
        return AskingOpencode()

    class Asking(type(AGENTS[name])):  # type: ignore[misc]  # the class is one of several
        def command(self, *arguments: Any, **options: Any) -> list[str]:
            words = super().command(*arguments, **options)
            return [*(word for word in words if not word.startswith("--allow")), *real.ASKING_FLAGS.get(name, ())]

    agent: Agent = Asking()
    return agent


@EVERY
def test_an_async_hook_is_not_waited_for_and_outlives_the_turn(name: str, guarded: Guarded) -> None:
    # it waits for the next call, which never comes if the agent waits for it
    script = """
        cd "$KIMI_PROJECT_DIR"
        until [ -e second ]; do sleep 0.1; done
        sleep 2
        touch seen
        """
    matcher = {"tool": "Shell", "pattern": "first"}
    guarded.hook("watch", script, **{"async": True, "timeout": 60000, "matcher": matcher})
    guarded.install()
    came = guarded.run(
        Turn(calls=(guarded.touch("first"),)), Turn(calls=(guarded.touch("second"),)), Turn(text=DONE), grace=30
    )
    assert guarded.left("seen"), shown(came)


@EVERY
def test_a_child_that_holds_the_pipe_delays_no_block(name: str, guarded: Guarded) -> None:
    # a run that waits for it is one that hangs
    guarded.hook("guard", "sleep 900 & echo not this >&2; exit 2", matcher={"tool": "Shell", "pattern": "forbidden"})
    guarded.install()
    came = guarded.calls(guarded.touch("forbidden"))
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, "not this"), shown(came)


@EVERY
def test_a_hook_is_ended_at_its_timeout_and_then_refuses_only_if_it_fails_closed(name: str, guarded: Guarded) -> None:
    # a run that waits for one of them is one that hangs
    for hook, more in (("open", {}), ("closed", {"metadata": {"on_failure": "block"}})):
        matcher = {"tool": "Shell", "pattern": f"under-{hook}"}
        guarded.hook(hook, "sleep 900; echo too late >&2; exit 2", timeout=1000, matcher=matcher, **more)
    guarded.install()
    came = guarded.calls(guarded.touch("under-open"), guarded.touch("under-closed"))
    assert guarded.left("under-open"), shown(came)
    assert not guarded.left("under-closed"), shown(came)
    assert results_with(came, "no end within 1 s"), shown(came)


@EVERY
def test_doctor_finds_by_trying_that_a_guard_holds_in_every_mode(name: str, guarded: Guarded) -> None:
    guarded.guard()
    guarded.install()
    status, said = guarded.doctor("--live")
    assert said.count("was refused by a hook, and the model was told why") == len(AGENTS[name].modes), said
    assert status == 0, said
    assert (guarded.home / f".local/state/tenterhook/live/{name}.json").exists()  # and `tenterhook` alone knows it


def says(**answer: Any) -> str:
    """A script that answers with JSON."""
    return f"cat <<'END'\n{json.dumps(answer)}\nEND"
