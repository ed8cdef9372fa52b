"""Whatever a path is, reading it ends, in bounded time and memory, and in words."""

from __future__ import annotations

import json
import os
import socket
import struct
import zipfile

import numpy as np
import pytest

from blrgen.cli.main import main
from blrgen.errors import UserError
from blrgen.limits import ARRAY_BYTES, FAMILY_BYTES
from blrgen.paths import bytes_of, text_of
from blrgen.read.model.given import given_data

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")


@pytest.fixture
def strange(tmp_path, monkeypatch):
    """Paths that are no files one can read: kind → a function of an ending."""
    monkeypatch.chdir(tmp_path)

    def bound(name):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)

    def large(name):
        with open(name, "wb") as stream:
            stream.truncate(ARRAY_BYTES + 1)  # takes no place on a disk

    def bytes_(name):
        with open(name, "wb") as stream:
            stream.write(b"\xff\xfe\x00 = 1")

    return {
        "pipe": os.mkfifo, "folder": os.mkdir, "socket": bound, "large": large, "bytes": bytes_,
        "endless": lambda name: os.symlink("/dev/zero", name), "absent": lambda name: None,
    }  # fmt: skip


KINDS = ("pipe", "folder", "socket", "large", "bytes", "endless", "absent")
COMMANDS = {
    "toml": ("derive {}", "check {}", "show {}", "identify {}", "generate {}", "verify {}"),
    "py": ("verify {} --against adam",),
    "model": ("derive {}", "derive {} --em", "fit {} --em --data x=x.csv"),
    "json": ("fit poisson-mixture-em.model --em --data {}",),
    "npy": ("fit poisson-mixture-em.model --em --data x={}",),
    "npz": ("fit poisson-mixture-em.model --em --data {}",),
    "csv": ("fit poisson-mixture-em.model --em --data x={}",),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_answers_in_words(kind, strange, capsys):
    for ending, commands in COMMANDS.items():
        if kind == "endless" and ending not in ("toml", "py"):
            continue  # a hundred megabytes are read
        name = f"a.{ending}"
        strange[kind](name)
        for command in commands:
            assert main(command.format(name).split()) == 2, command
            said = capsys.readouterr().err
            assert said.startswith("error: ") and "bug" not in said, command


def test_a_start_is_read_like_data(strange, capsys):
    with open("x.json", "w") as stream:
        json.dump({"x": [1, 2, 3, 0, 1], "k": 2}, stream)
    os.mkfifo("a.json")
    command = "fit poisson-mixture-em.model --em --data x.json --set K=2 --start a.json"
    assert main(command.split()) == 2
    assert "error: " in capsys.readouterr().err


def test_a_pipe_with_a_writer_is_read(strange):
    reader, writer = os.pipe()
    os.write(writer, b"name")
    os.close(writer)
    assert text_of(f"/dev/fd/{reader}", 10) == "name"
    os.close(reader)


def test_a_silent_writer_is_not_waited_for(strange, monkeypatch):
    monkeypatch.setattr("blrgen.paths.SILENCE", 0.05)
    reader, writer = os.pipe()
    with pytest.raises(UserError, match="nothing came from it"):
        bytes_of(f"/dev/fd/{reader}", FAMILY_BYTES)
    os.close(writer)
    os.close(reader)


def test_an_array_larger_than_its_file_is_refused(strange):
    """Memory is taken by the shape that the header states."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117)
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head + b"\n"
    with open("a.npy", "wb") as stream:
        stream.write(data)
    with zipfile.ZipFile("a.npz", "w") as packed:
        packed.writestr("x.npy", data)
    for said in ("x=a.npy", "a.npz"):
        with pytest.raises(UserError, match="fewer bytes than the shape in its header"):
            given_data([said], [])


def test_arrays_that_fit_are_read(strange):
    x = np.arange(6.0).reshape(2, 3)
    np.save("a.npy", x)
    np.savez_compressed("a.npz", x=np.zeros((200, 300)), y=x)
    assert np.array_equal(given_data(["x=a.npy"], [])["x"], x)
    assert given_data(["a.npz"], [])["x"].shape == (200, 300)


def test_a_pipe_that_nobody_reads_is_not_waited_for(strange, capsys):
    os.mkfifo("out.py")
    assert main(["generate", "adam", "-o", "out.py"]) == 2
    assert "refused" in capsys.readouterr().err
