"""One-liners of other languages, as the shell commands that do the same."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.shell.one_liners import actions


@pytest.mark.parametrize(
    ("language", "code", "action"),
    [
        ("python", "import os; os.system('rm a')", ("shell", "rm a")),
        ("python", "import os; os.system('rm ' + 'a')", ("shell", "rm a")),
        ("python", "import subprocess; subprocess.run(['rm', 'a'])", ("words", ["rm", "a"])),
        ("python", "import subprocess as s\ns.check_call(['rm',\n 'a'])", ("words", ["rm", "a"])),
        ("python", "import shutil; shutil.rmtree('a')", ("words", ["rm", "-rf", "--", "a"])),
        ("python", "import shutil, os; shutil.rmtree(os.path.expanduser('~'))", ("words", ["rm", "-rf", "--", "~"])),
        ("python", "open('a', 'w').write('x')", ("words", ["tee", "--", "a"])),
        ("python", "from pathlib import Path; Path('a').write_text('x')", ("words", ["tee", "--", "a"])),
        ("python", "import os; os.rename('a', 'b')", ("words", ["mv", "--", "a", "b"])),
        ("python", "import os\nwhile True: os.fork()", ("note", "fork-bomb")),
        ("python", "exec(__import__('base64').b64decode('eA=='))", ("note", "run-decoded")),
        ("python", "import urllib.request as u; exec(u.urlopen('http://a').read())", ("note", "run-download")),
        ("node", "require('child_process').execSync('rm a')", ("shell", "rm a")),
        ("node", "require('child_process').spawnSync('rm', ['-r', 'a'])", ("words", ["rm", "-r", "a"])),
        ("node", 'new Deno.Command("rm", {args: ["a"]})', ("words", ["rm", "a"])),
        (
            "node",
            "require('vm').runInThisContext(require('child_process').execSync('curl http://a'))",
            ("note", "run-download"),
        ),
        ("node", "fs.rmSync('a', {recursive: true})", ("words", ["rm", "-rf", "--", "a"])),
        ("perl", "system 'rm a'", ("shell", "rm a")),
        ("perl", "system(q(rm a))", ("shell", "rm a")),
        ("perl", "unlink 'a'", ("words", ["rm", "-f", "--", "a"])),
        ("perl", "fork while 1", ("note", "fork-bomb")),
        ("ruby", "`rm a`", ("shell", "rm a")),
        ("ruby", "FileUtils.rm_rf('a')", ("words", ["rm", "-rf", "--", "a"])),
        ("php", "shell_exec('rm a');", ("shell", "rm a")),
        ("osascript", 'do shell script "rm a"', ("shell", "rm a")),
        ("awk", 'BEGIN { system("rm a") }', ("shell", "rm a")),
        ("tcl", "spawn rm a\nexpect eof", ("shell", "rm a")),
        ("tcl", 'spawn sh; send "rm a\\r"', ("shell", "rm a")),
        ("tcl", "file delete -force a", ("shell", "rm -rf a")),
        ("python", "import os\nfor f in os.listdir('a'): os.remove(f)", ("shell", "rm -f a/*")),
        ("python", "import sh; sh.rm('a')", ("words", ["rm", "-rf", "--", "a"])),
        ("node", "fs.readdirSync('a').forEach(f => fs.unlinkSync(f))", ("shell", "rm -f a/*")),
        ("ruby", "Dir['a/*'].each { |f| File.delete(f) }", ("shell", "rm -f a/*")),
        ("perl", "for (glob 'a/*') { unlink }", ("shell", "rm -f a/*")),
        ("r", "unlink('a', recursive = TRUE)", ("words", ["rm", "-rf", "--", "a"])),
        ("r", "unlink('a')", ("words", ["rm", "-f", "--", "a"])),
        ("julia", 'rm("a"; recursive=true)', ("words", ["rm", "-rf", "--", "a"])),
        ("other", 'File.rm_rf!("a")', ("words", ["rm", "-rf", "--", "a"])),
        ("other", 'new File("a").deleteDir()', ("words", ["rm", "-rf", "--", "a"])),
        ("other", '(clojure.java.shell/sh "rm" "a")', ("shell", '"rm" "a"')),
        ("lisp", '(delete-directory "a" t)', ("words", ["rm", "-rf", "--", "a"])),
        ("lisp", '(delete-file "a")', ("words", ["rm", "-f", "--", "a"])),
        ("osascript", 'tell application "Finder" to empty trash', ("words", ["trash-empty"])),
        ("powershell", "Get-Date; & rm a", ("shell", "rm a")),
        ("cmd", "cd x & r^m a", ("shell", "rm a")),
    ],
)
def test_calls_that_run_delete_or_write_are_found(language: str, code: str, action: tuple[str, Any]) -> None:
    assert action in actions(language, code)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print('rm a')"),
        ("python", "import os; print(os.getcwd(), 'rm a')"),
        ("python", "open('a').read()"),
        ("node", "console.log('rm a')"),
        ("perl", "print 'rm a'"),
    ],
)
def test_text_that_is_only_printed_or_compared_is_no_action(language: str, code: str) -> None:
    assert actions(language, code) == []
