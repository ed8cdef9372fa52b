"""Write a commented family file to start from; it passes `blrgen check` as it stands.

blrgen new-family my-family
blrgen new-family my-family -o families/mine.toml

"""

from __future__ import annotations

import argparse

from blrgen.cli.output import note, result, save
from blrgen.cli.parser import Parser


def configure(parser: Parser) -> None:
    """NAME, -o and --force."""
    parser.add_argument("name", metavar="NAME", help="lowercase words joined by hyphens")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="NAME.toml if absent; - for standard output"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that holds something else"
    )


def run(options: argparse.Namespace) -> int:
    """Write the file and say where it is."""
    from blrgen.read.declaration import slug
    from blrgen.read.starter import starter

    name = slug(options.name, "the name of a family", "blrgen new-family")
    path = options.output or f"{name}.toml"
    if path == "-":
        result(starter(name, f"{name}.toml"))
        return 0
    written = save(path, starter(name, _shown(path)), force=options.force)
    note(f"wrote {path}" if written else f"{path} is as it was")
    return 0


def _shown(path: str) -> str:
    """The path in a comment: printable, on one line."""
    plain = path.replace("{", "").replace("}", "")
    return plain if plain.isprintable() and len(plain) <= 100 else "FILE.toml"
