"""Equal equations of a program, each once: what two blocks need alike is made for both."""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a


def merged(program: a.Program) -> a.Program:
    """The program in which equal equations are one."""
    names: dict[str, str] = {}
    seen: dict[str, str] = {}
    body: list[a.Statement] = []
    for s in program.body:
        if isinstance(s, a.Seq):
            body += a.mapped((s,), lambda x: (_renamed(x, names),))
            continue
        let = _renamed(s, names)
        key = repr((let.letters, let.expr))
        if key in seen and s.name not in program.outs and s.structure == "dense":
            names[s.name] = seen[key]
            continue
        seen.setdefault(key, s.name)
        body.append(let)
    return a.Program(program.letters, program.given, tuple(body), program.outs)


def _renamed(s: a.Let, names: dict[str, str]) -> a.Let:
    first = None if s.first is None else a.renamed(s.first, names)
    init = None if s.init is None else a.renamed(s.init, names)
    return replace(s, expr=a.renamed(s.expr, names), first=first, init=init)
