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
        "fix the given line, or one above it: quote values that contain `: ` or ` #`, indent with "
        "spaces, and put expressions in single quotes."
    ),
    "bad-toml": "fix the given line, or one above it; strings need quotes, and `'…'` keeps backslashes.",
    "bad-json": "fix the file near the given line. In agents' settings, comments and trailing commas are allowed.",
    "bad-hooks-section": (
        "write `[[hooks]]` tables with an `event` each (array format), `[[hooks.<event>]]` tables (table "
        "format), or an object of event names (agents' settings). In `hooks.toml`: `[hooks]`, "
        "`[hooks.defaults]`, `[[hooks.disable]]`, `[[hooks.override]]`."
    ),
    "missing-key": "add the key; [the formats](formats.md) list what each requires.",
    "unknown-key": "fix its spelling or remove it. Kimi Code would refuse the file too.",
    "bad-value": "give it a value of the type and in the range that [the formats](formats.md) list.",
    "unknown-event": "use one of [the events](formats.md#events) by any of its names; close ones are suggested.",
    "bad-expression": (
        "fix the expression. A literal `. ( ) [ ] + * ?` needs a backslash. A guard with an invalid matcher is "
        "an error, so that it does not silently match nothing."
    ),
    "placeholder-reason": (
        "write in the script why it refuses and what to do instead, and the same in the case that expects it; or "
        "create the hook with `tenterhook new … --reason TEXT`."
    ),
    "placeholder-in-code": (
        "read the value from the JSON on stdin in the command, or use the placeholder as a plain argument, "
        "outside of `sh -c`, `eval` and the name of a program."
    ),
    "writable-by-others": (
        "`chmod go-w` the named file or folder, and own it: an account that can change a hook can run code as you."
    ),
    "moved-into-repository": "unset the variable, or review the file and name it with `--config`.",
    "not-owned-by-root": "`chown -R root:` the folder, and remove write permission for everyone else.",
    "earlier-version": "run `tenterhook update`: it keeps your settings and the old folder.",
    "unknown-guard": "correct the name under `metadata.guard`, or upgrade Tenterhook.",
    "guard-setting": (
        "write `allow` and `ask` as lists of rules that [the guard](built-in-hooks.md) has, "
        "`directories` as a list of paths."
    ),
    "ignored-key": "fix its spelling or remove it.",
    "never-matches-expression": ("fix the expression; until then the hook never runs. Kimi Code ignores it silently."),
    "odd-on-failure": "write `on_failure: block`, or `open`, which is the default.",
    "no-description": "add a `description` of one line.",
    "odd-name": "use lower-case letters, digits and hyphens: other tools may refuse other characters.",
    "name-differs": "give the folder and the hook the same name.",
    "name-twice": "give each hook its own name; both run.",
    "escape-in-quotes": "put the expression in single quotes: `pattern: '\\.py$'`.",
    "control-character": "put the expression in single quotes: in double quotes `\\b` is a backspace.",
    "no-script": "add `scripts/run`, `scripts/run.sh` or `scripts/run.py` and make it executable.",
    "not-executable": "`chmod +x` the script. It runs anyway, with the program that its extension or `#!` line names.",
    "wrong-case": "rename the file: `HOOK.md`, `scripts/run`, `scripts/run.sh` and `scripts/run.py`; case matters.",
    "misplaced": (
        "move the folder up or down, so that it is `<hooks directory>/<name>/HOOK.md`. A repository that was cloned "
        "into the hooks directory is one level too deep."
    ),
    "script-syntax": (
        "fix the syntax; `sh -n`, `bash -n`, `python3 -m py_compile` and `node --check` say what is wrong with a "
        "script. A `#!` line that ends with a carriage return needs Unix line endings."
    ),
    "cannot-start": (
        "fix the path or the `#!` line, or install the interpreter. After `env`, more than one word needs `env -S`."
    ),
    "fail-closed-missing": (
        "fix the error that the message names, so that it can be loaded; or remove it with `tenterhook remove NAME`, "
        "even if it no longer exists. Until then, its event is refused where its matcher applies."
    ),
    "fail-closed-unknown": (
        "delete the named file: it is rewritten when hooks are next loaded. Until then, a removed hook that blocks "
        "when it fails is not noticed."
    ),
    "cannot-be-trusted": (
        "put the files themselves into the hook's folder: a link instead of the folder, or one that points outside of "
        "it, can change what runs after it was reviewed. A folder with special files, unreadable files or large data "
        "cannot be trusted either."
    ),
    "permission-syntax": (
        "write the tool's name as `tool`, and the beginning of the command as `pattern`: `tool: Bash` and "
        "`pattern: '^deploy'` instead of `tool: Bash(deploy:*)`."
    ),
    "missing-program": "install the program, or check for it in the script and exit with 2 if it is missing.",
    "unknown-tool": (
        "use a name that an agent has; close ones are suggested. Your own tools, and those of MCP servers, are not "
        "known here: for them, ignore this."
    ),
    "matcher-on-other-event": "remove the matcher, and check the event in the script.",
    "foreign-event-name": "use Kimi Code's own name of the event if Kimi Code reads the file too.",
    "foreign-event": "nothing, if it is meant for that agent only; else fix the name.",
    "foreign-handler": (
        "write it as a plain command. Instead of an `if`, use a matcher, or check the input in the command."
    ),
    "switched-off": (
        "remove the setting (`disableAllHooks`, `enabled`, `disabled`) from the file if the hooks should run here."
    ),
    "not-wired": "`tenterhook install AGENT`, and restart the agent if it is running.",
    "dialect": (
        "write the expression so that it means the same in Python and JavaScript, or leave it if only one of them "
        "reads the file."
    ),
    "can-run-away": "remove the inner or the outer repetition: `(a+)+` is `a+`.",
    "long-body": "keep HOOK.md short, since agents may read it, and move the rest to a file beside it.",
    "no-hooks": "add hooks to the file, or do not name it. In a folder, the file must be called `HOOK.md` exactly.",
    "ungoverned": (
        "fix the name, or remove the entry; `tenterhook list` shows the names. A project's `hooks.toml` "
        "can change only the project's hooks."
    ),
    "bad-lock": "restore the file from version control, or lock again with `tenterhook pack update`.",
    "bad-pack": "fix the entry; `tenterhook pack show NAME` lists the hooks of a pack.",
    "pack-not-locked": "`tenterhook pack update` fetches it, shows it and locks it.",
    "pack-differs": "`tenterhook pack verify --fetch` restores the locked bytes; in a new clone, so does `trust`.",
    "untrusted-settings": "review it, then `tenterhook trust hooks.toml`.",
}
