"""General remedies of each problem; the problem itself has one for its file."""

from __future__ import annotations

REMEDIES = {
    "unreadable": "make it a file or folder that exists and that your account may read, or name another one.",
    "not-text": "save the file as UTF-8.",
    "no-front-matter": (
        "begin the file with a line `---`, then YAML with `name` and `trigger`, then a line `---`; nothing "
        "may precede the first, not even an empty line."
    ),
    "bad-yaml": (
        "fix the line that is named, or one above it: quote values that hold `: ` or ` #`, indent with "
        "spaces, and put expressions in single quotes."
    ),
    "bad-toml": "fix the line that is named, or one above it; texts need quotes, and `'…'` leaves backslashes alone.",
    "bad-json": "fix the file near the line that is named. In agents' settings comments and trailing commas are fine.",
    "bad-hooks-section": (
        "write `[[hooks]]` tables with an `event` each (array format), `[[hooks.<event>]]` tables (table "
        "format), or an object of event names (agents' settings). In `hooks.toml`: `[hooks]`, "
        "`[hooks.defaults]`, `[[hooks.disable]]`, `[[hooks.override]]`."
    ),
    "missing-key": "add the key; [the formats](formats.md) list what each requires.",
    "unknown-key": "fix its spelling or take it out. Kimi Code would refuse the file, too.",
    "bad-value": "give it a value of the type and in the range that [the formats](formats.md) list.",
    "unknown-event": "use one of [the events](formats.md#events) by any of its names; close ones are suggested.",
    "bad-expression": (
        "fix the expression. A literal `. ( ) [ ] + * ?` needs a backslash. A guard with an invalid matcher is "
        "an error, so that it does not silently match nothing."
    ),
    "placeholder-reason": (
        "write into the script why it refuses, and what to do instead, and the same into the case that expects it; or "
        "make the hook with `tenterhook new … --reason TEXT`."
    ),
    "placeholder-in-code": (
        "read the value from the JSON on stdin in the command, or use the placeholder as a plain argument, "
        "outside of `sh -c`, `eval` and the name of a program."
    ),
    "writable-by-others": (
        "`chmod go-w` what is named, and make it your own: an account that can change a hook can run code as you."
    ),
    "moved-into-repository": "Unset the variable, or name the file with `--config` once you have read it.",
    "not-owned-by-root": "`chown -R root:` the folder, and remove write permission for everyone else.",
    "earlier-version": "run `tenterhook update`: it keeps your settings and the old folder.",
    "unknown-guard": "correct the name under `metadata.guard`, or upgrade Tenterhook.",
    "guard-setting": (
        "write `allow` and `ask` as lists of rules that [the guard](built-in-hooks.md) has, "
        "`directories` as a list of paths."
    ),
    "ignored-key": "fix its spelling or take it out.",
    "never-matches-expression": ("fix the expression; until then the hook never runs. Kimi Code ignores it silently."),
    "odd-on-failure": "write `on_failure: block`, or `open`, which is the default.",
    "no-description": "describe in one line what the hook does.",
    "odd-name": "use lower-case letters, digits and hyphens: other tools may refuse the rest.",
    "name-differs": "give the folder and the hook the same name.",
    "name-twice": "give each hook a name of its own; both run.",
    "escape-in-quotes": "put the expression in single quotes: `pattern: '\\.py$'`.",
    "control-character": "put the expression in single quotes: in double quotes `\\b` is a backspace.",
    "no-script": "add `scripts/run`, `scripts/run.sh` or `scripts/run.py` and make it executable.",
    "not-executable": "`chmod +x` the script. It runs all the same, by the program its ending or its `#!` line names.",
    "wrong-case": "rename the file: `HOOK.md`, `scripts/run`, `scripts/run.sh` and `scripts/run.py`; case matters.",
    "misplaced": (
        "move the folder up or down, so that it is `<hooks directory>/<name>/HOOK.md`. A repository that was cloned "
        "into the hooks directory is one level too deep."
    ),
    "script-syntax": (
        "fix the syntax; `sh -n`, `bash -n`, `python3 -m py_compile` and `node --check` say what is wrong with a "
        "script. A `#!` line that ends with a carriage return needs Unix line ends."
    ),
    "cannot-start": (
        "fix the path or the `#!` line, or install the interpreter. Behind `env`, more than one word needs `env -S`."
    ),
    "fail-closed-missing": (
        "fix the error that the message names, so that it can be loaded; or remove it with `tenterhook remove NAME`, "
        "also if it no longer exists. Until then its event is refused where its matcher applies."
    ),
    "fail-closed-unknown": (
        "delete the file that is named: it is written again when hooks are next loaded. Until then a removed hook that "
        "blocks when it fails is not noticed."
    ),
    "cannot-be-trusted": (
        "put the files themselves into the hook's folder: a link instead of the folder, or one that points outside of "
        "it, can change what runs after it was reviewed. A folder with special files, unreadable files or large data "
        "cannot be trusted, either."
    ),
    "permission-syntax": (
        "write the tool's name as `tool`, and what the command begins with as `pattern`: `tool: Bash` and "
        "`pattern: '^deploy'` instead of `tool: Bash(deploy:*)`."
    ),
    "missing-program": "install the program, or look for it in the script and exit with 2 if it is missing.",
    "unknown-tool": (
        "write a name that an agent has; close ones are suggested. Tools of your own, and of MCP servers, cannot be "
        "known here: then nothing is wrong."
    ),
    "matcher-on-other-event": "take the matcher out, and look at the event in the script.",
    "foreign-event-name": "write Kimi Code's own name of the event if Kimi Code is to read the file, too.",
    "foreign-event": "nothing, if it is meant for that agent alone; else fix the name.",
    "foreign-handler": (
        "write it as a plain command. What has an `if` needs a matcher instead, or looks at the input itself."
    ),
    "switched-off": (
        "take the switch (`disableAllHooks`, `enabled`, `disabled`) out of the file if the hooks should run here."
    ),
    "not-wired": "`tenterhook install AGENT`, and restart the agent if it is running.",
    "dialect": (
        "write the expression so that Python and JavaScript mean the same by it, or leave it if the file is "
        "read by one of them only."
    ),
    "can-run-away": "take out the inner or the outer repetition: `(a+)+` is `a+`.",
    "long-body": "keep HOOK.md short, as agents may read it, and move the rest to a file beside it.",
    "no-hooks": "add hooks to the file, or do not name it. For a folder: the file's name is `HOOK.md` exactly.",
    "ungoverned": (
        "fix the name, or take the entry out; `tenterhook list` shows the names. A project's `hooks.toml` "
        "can change the project's hooks only."
    ),
    "bad-lock": "restore the file from version control, or lock again with `tenterhook pack update`.",
    "bad-pack": "fix the entry; `tenterhook pack show NAME` lists the hooks of a pack.",
    "pack-not-locked": "`tenterhook pack update` fetches it, shows it and locks it.",
    "pack-differs": "`tenterhook pack verify --fetch` restores the locked bytes; in a new clone, so does `trust`.",
    "untrusted-settings": "look at it, then `tenterhook trust hooks.toml`.",
}
