"""Words that are proposed for one that is not known have been tried in its place."""

from __future__ import annotations

import pytest

from blrgen.cli.main import main

SAID = {
    "derive gausian-diag --delta": "did you mean 'gaussian-diag'",
    "derive gaussian-diag --dleta": "did you mean '--delta'?",
    "derive gausian-diag --dleta": "did you mean '--delta'?",  # the other word is told next
    "lst": "did you mean 'list'?",
    "list recipies": "did you mean 'recipes'?",
    "derive gaussian-diag --hessian exat": "did you mean 'exact'?",
    # of another command, or near to nothing
    "derive adam --target numpy": "--target is an option of blrgen generate",
    "derive adam --tarot numpy": "blrgen derive --help lists the options",
    # known, and not to be used here
    "derive poisson --hesian exact": "'--hessian' is known, and refused here: --hessian exact does",
    "derive gaussian-fixed --hessian exat": "'exact' is known, and refused here: --hessian exact",
    "derive gamma --insrt x": "'--insert' is known, and refused here: --insert is for recipes",
}


@pytest.mark.parametrize("command", SAID)
def test_a_proposed_word_works_or_is_said_not_to(command, capsys):
    assert main(command.split()) == 2
    said = capsys.readouterr()
    assert SAID[command] in said.err and not said.out


def test_a_word_of_a_file_is_proposed_as_before(tmp_path, capsys):
    path = tmp_path / "a.toml"
    path.write_text(
        'name = "a"\nvariable = "x"\nsuport = "(0, oo)"\nstatistics = ["x"]\n'
        '[natural]\neta = "(-oo, 0)"\n'
    )
    assert main(["derive", str(path)]) == 2
    assert "did you mean 'support'?" in capsys.readouterr().err
