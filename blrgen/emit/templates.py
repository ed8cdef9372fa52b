"""The texts under `templates/`, filled strictly: every key supplied, none unused."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from blrgen.emit.uses import use
from blrgen.errors import InternalError

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> Environment:
    """Jinja2, with undefined keys as errors and Python's own brackets left alone."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from blrgen.paths import data_dir

    return Environment(
        loader=FileSystemLoader(str(data_dir("templates"))),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def keys(name: str) -> frozenset[str]:
    """The keys a template uses."""
    from jinja2 import meta

    loader = environment().loader
    if loader is None:
        raise InternalError("the template environment has no loader")
    source = loader.get_source(environment(), name)[0]
    return frozenset(meta.find_undeclared_variables(environment().parse(source)))


# What the words of a template need of a file beside what fills it.
USES: Mapping[str, tuple[str, ...]] = {
    "class/sample": ("_generator",),
    "class/draws": ("np", "_generator"),
    "class/drawn": ("_generator",),
}


def fill(name: str, /, **values: str) -> str:
    """The template's text with its keys replaced, without its final newline."""
    for x in USES.get(name.removesuffix(".py.jinja"), ()):
        use(x)
    if keys(name) != values.keys():
        lacking, unused = sorted(keys(name) - values.keys()), sorted(values.keys() - keys(name))
        raise InternalError(f"template {name}: missing keys {lacking}, unused keys {unused}")
    return environment().get_template(name).render(**values).rstrip("\n")
