"""--size from outside."""

from __future__ import annotations

import pytest


def test_generate_and_verify(invoke):
    made = invoke("generate", "von", "--size", "d=2")
    assert (made.code, made.err) == (0, "")
    assert "SIZES = {" in made.out
    proved = invoke("verify", "von", "--size", "d=2")
    assert proved.code == 0
    assert "emitted numba source" in proved.out and "numpy source" not in proved.out


def test_a_generated_file_is_verified_at_its_size(invoke, tmp_path):
    file = tmp_path / "small.py"
    invoke("generate", "von", "--size", "d=2", "-o", str(file))
    assert invoke("verify", str(file), "--against", "von").code == 0
    text = file.read_text()
    file.write_text(text.replace("m_next[0] = m_next_0", "m_next[0] = m_next_1"))
    assert invoke("verify", str(file), "--against", "von").code == 1
    assert invoke("verify", str(file), "--against", "von", "--size", "d=2").code == 2


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("arguments", "said"), [
    (["von", "--size", "d=9"], "not between 1 and 8"),
    (["von", "--size", "d=0"], "not between 1 and 8"),
    (["von", "--size", "d=" + "9" * 5000], "not between 1 and 8"),
    (["von", "--size", "d=-1"], "not NAME=N"),
    (["von", "--size", "d=²"], "not NAME=N"),
    (["von", "--size", "4"], "not NAME=N"),
    (["von", "--size", "e=4"], "known: d"),
    (["von", "--size", "d=4", "--size", "d=4"], "given twice"),
    (["von", "--size"], "needs a value"),
    (["von", "--size", "d=4", "--target", "numpy"], "choose the numba target"),
    (["matrix-normal", "--size", "n=2"], "--size p=… is missing"),
    (["adam", "--size", "d=4"], "vectors and matrices"),
    (["ridge", "--size", "d=4"], "any number of rows"),
    (["wishart", "--size", "d=2"], "leave --size out"),
])  # fmt: skip
def test_mistakes(invoke, arguments, said):
    for command in ("generate", "verify"):
        if "--target" in arguments and command == "verify":
            continue
        made = invoke(command, *arguments)
        assert (made.code, made.out) == (2, "")
        assert said in made.err
