"""Reads what a shell line would do, for guards, approval rules, placeholders, presenter, lints and `convert`.

A line is read in three steps, none of which runs anything:

- `syntax` parses the text to a tree of commands, as bash, dash and zsh do.
- `walk` follows the tree in the order of execution, through every branch and every iteration of a loop. `expansion` and
  `words` expand the words, with values that the line itself determines (`state`, `shell_builtins`, `output`).
- The programs that a command runs are walked in turn: `wrappers` is the table of `sudo`, `env`, `timeout` …,
  `programs` handles those that need more than a row, `one_liners` reads code in other languages.

`reader.read` returns the `commands`, each with its words, redirections, directory and position in the line, and notes.
`effects` returns what a command does to paths, `program_text` which of its arguments are code. A command is *certain*
if its words are literally in the line, with nothing expanded; unknown text is a mark in a word (`syntax.UNKNOWN` …). A
reading is *complete* if the line was understood to its end. Each line has a *budget* of steps (`syntax.Budget`), less
than a tenth of a second: when it is used up, as after a syntax error, the commands so far are kept and the reading is
not complete.
"""
