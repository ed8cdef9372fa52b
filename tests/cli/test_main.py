"""Dispatch, exit codes and streams: what every command has in common."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from blrgen.cli import main as entry
from blrgen.cli.main import BUG, COMMANDS, INTERRUPTED, READER_GONE

pytestmark = pytest.mark.core

PYTHON = [sys.executable, "-m", "blrgen"]


def command_that(monkeypatch, raises):
    """Let `blrgen table` raise."""
    import blrgen.cli.table as table

    def run(options):
        raise raises

    monkeypatch.setattr(table, "run", run)
    return ["table"]


def test_help_lists_every_command(invoke):
    said = invoke("--help")
    assert (said.code, said.err) == (0, "")
    assert all(f"\n  {name}" in said.out for name in COMMANDS)
    assert said == invoke("-h")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(invoke, name):
    said = invoke(name, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: blrgen {name}")
    assert "--help" in said.out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(invoke, name):
    assert len(invoke(name, "--help").out.splitlines()) <= 45


@pytest.mark.parametrize("name", ["derive", "generate", "verify", "identify"])
def test_help_says_how_a_loss_is_written_and_where_flags_are_listed(invoke, name):
    said = " ".join(invoke(name, "--help").out.split())
    assert "--loss L the loss, such as '(y - x*theta)**2/2'" in said
    assert "blrgen list approximations" in said


def test_version(invoke):
    import blrgen

    said = invoke("--version")
    assert (said.code, said.out) == (0, f"blrgen {blrgen.__version__}\n")


@pytest.mark.parametrize(
    ("words", "what", "how"),
    [
        ([], "no command given", "derive"),
        (["derv"], "unknown command 'derv'", "'derive'"),
        (["--versoin"], "unknown option '--versoin'", "'--version'"),
        (["list", "familes"], "familes", "'families'"),
        (["derive"], "WHAT", "--help"),
        (["derive", "gaussian-diag", "--dleta"], "unknown option '--dleta'", "'--delta'"),
        (["derive", "gaussian-diag", "adam"], "unexpected argument 'adam'", "--help"),
        (["derive", "gaussian-diag", "--format"], "--format needs a value", "latex"),
        (["derive", "gaussian-diag", "--format", "latx"], "no value 'latx'", "'latex'"),
        (["derive", "gausian-diag"], "gausian-diag", "'gaussian-diag'"),
        (["derive", "adm"], "adm", "'adam'"),
        (["derive", "gaussian-diag", "--hessian", "exat"], "'exat'", "'exact'"),
        (["derive", "gaussian-diag", "--hessian"], "--hessian needs a value", "exact"),
        (["derive", "gaussian-diag", "--hessian", "--delta"], "--hessian needs a value", "exact"),
    ],
)
def test_a_mistake_is_named_with_the_nearest_known_word(invoke, words, what, how):
    said = invoke(*words)
    assert said.code == 2
    assert said.out == ""
    first, *rest = said.err.splitlines()
    assert first.startswith("error: ")
    assert what in first
    assert how in "\n".join(rest)


@pytest.mark.parametrize("name", [n for n in COMMANDS if n not in ("table", "list")])
@pytest.mark.parametrize(
    "word",
    [
        "nul\0inside",
        "line\nbreak",
        "",
        " ",
        "x" * 100_000,
        "../../etc/passwd",
        "a" * 300 + ".toml",
        "\x1b[31mred",
        "__import__('os')",
        "$(id)",
        "−delta",
        "\udcff",
    ],
)
def test_hostile_words_are_refused_in_a_few_printable_lines(invoke, name, word):
    said = invoke(name, word)
    assert said.code == 2
    assert said.out == ""
    assert "Traceback" not in said.err
    assert len(said.err) < 5_000
    assert all(c.isprintable() or c == "\n" for c in said.err)


@pytest.mark.parametrize("word", [b"\xff\xfe", b"caf\xe9.toml", "ñ" * 50_000, b"a\nb"])
def test_words_that_are_not_utf8_reach_no_traceback(blrgen, word):
    said = blrgen("derive", word)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert "Traceback" not in said.err


@pytest.mark.sweep(4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("locale", "encoding"), [("C", "ascii"), ("C", "latin-1"), ("C.UTF-8", "utf-8")]
)
def test_greek_letters_whatever_the_locale(blrgen, locale, encoding):
    said = blrgen("derive", "gaussian-diag", LC_ALL=locale, PYTHONIOENCODING=encoding)
    assert (said.code, said.err) == (0, "")
    assert "λ" in said.out


def test_a_bug_says_so_in_one_line(invoke, monkeypatch):
    said = invoke(*command_that(monkeypatch, ZeroDivisionError("some\ninner thing")))
    assert said.code == BUG
    assert said.out == ""
    assert "bug in blrgen" in said.err
    assert "ZeroDivisionError: some inner thing" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("stop", [SystemExit(0), RecursionError(), MemoryError(), GeneratorExit()])
def test_nothing_unexpected_counts_as_success(invoke, monkeypatch, stop):
    assert invoke(*command_that(monkeypatch, stop)).code == BUG


def test_the_traceback_is_there_for_who_asks(monkeypatch):
    monkeypatch.setenv("BLRGEN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        entry(command_that(monkeypatch, ZeroDivisionError("x")))


def test_interrupt(invoke, monkeypatch):
    said = invoke(*command_that(monkeypatch, KeyboardInterrupt()))
    assert (said.code, said.out) == (INTERRUPTED, "")
    assert said.err == "error: interrupted\n"


def test_the_operating_system_refuses(invoke, monkeypatch):
    said = invoke(*command_that(monkeypatch, PermissionError(13, "Permission denied", "a\nb")))
    assert said.code == 2
    assert "Permission denied" in said.err
    assert "Traceback" not in said.err


def test_interrupted_at_work_it_stops_at_once_and_quietly():
    def interruptible():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = process(["table"], preexec_fn=interruptible, **pipes)
    child.stderr.readline()  # the first row is being computed
    for _ in range(3):
        # CPython drops an interrupt that lands in a weakref callback, as at the end of an
        # import: then a person presses again, and so does this test
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            out, err = child.communicate(timeout=3)
            break
    assert (child.returncode, out) == (INTERRUPTED, b""), err
    assert err.endswith(b"error: interrupted\n")
    assert b"Traceback" not in err


def test_an_interrupt_inside_code_run_from_text_has_the_same_code(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import sys, blrgen.cli\n"
        "m = sys.modules['blrgen.cli.main']\n"
        "m.run = lambda argv: exec('raise KeyboardInterrupt')\n"
        "sys.exit(m.main([]))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, env=environment, capture_output=True
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, b"error: interrupted\n")


def process(words, **streams):
    return subprocess.Popen([*PYTHON, *words], cwd=Path(__file__).parents[2], **streams)


def test_a_reader_that_goes_away_is_no_error():
    read, write = os.pipe()
    os.close(read)
    child = process(["--help"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, err = child.communicate(timeout=60)
    assert child.returncode == READER_GONE
    assert err == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_reported():
    with open("/dev/full", "wb") as full:
        child = process(["--help"], stdout=full, stderr=subprocess.PIPE)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 2
    assert b"No space left" in err
    assert b"Traceback" not in err


def test_closed_standard_streams():
    script = f'"{sys.executable}" -m blrgen --help'
    for closed in (">&-", "2>&- >&-"):
        done = subprocess.run(
            ["sh", "-c", f"{script} {closed}"], cwd=Path(__file__).parents[2], capture_output=True
        )
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("setting", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_only_on_a_terminal_that_wants_it(setting):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    child = process(["nothing"], stderr=theirs, env=environment | setting)
    child.wait(timeout=60)
    os.close(theirs)
    seen = os.read(ours, 4096)
    os.close(ours)
    assert (b"\033[" in seen) == (not setting)


def test_no_colour_in_a_pipe(blrgen):
    assert "\033" not in blrgen("nothing", TERM="xterm").err
