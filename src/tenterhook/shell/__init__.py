"""What a shell line would do: one reader for guards, approval rules, placeholders, presenter, lints and `convert`.

A line goes through three steps, none of which runs anything:

- `syntax` parses the text to a tree of commands, as bash, dash and zsh do.
- `walk` follows the tree in the order in which it would run: every branch, every round of a loop. `expansion` and
  `words` expand the words, with the values that the line itself gives (`state`, `shell_builtins`, `output`).
- What a command makes another program run is walked in turn: `wrappers` is the table of `sudo`, `env`, `timeout` …,
  `programs` has what needs more than a row, `one_liners` reads code of other languages.

`reader.read` returns the `commands`, each with its words, redirections, directory and place in the line, and notes.
`effects` says what a command does to paths, `program_text` which of its arguments are code. A command is *certain* if
its words are written as they are, with nothing expanded; text that is not known is a mark in a word (`syntax.UNKNOWN`
…). A reading is *complete* if the line was understood to its end. Each line has a *budget* of steps
(`syntax.Budget`), less than a tenth of a second: beyond it, as after a syntax error, the commands before that place are
kept, and the reading is not complete.
"""
