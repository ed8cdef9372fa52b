"""Models: a text with plates → a `Model`, or every mistake in it with its place.

| module | what it does |
|---|---|
| `calls` | Functions in a model's expressions: what their arguments must be, what they make |
| `data` | Data against a model: sizes, shapes, labels, missing values, supports, domains |
| `declare` | All names of a model before any expression is read: text order is free |
| `domains` | Where values live: what the text and the families say |
| `draws` | Distributions: a family with its arguments, `choose`, `point` |
| `elsewhere` | What other languages call things, and how they are written here |
| `evaluate` | A model's expressions at one point: exact fractions while they last, or doubles |
| `expressions` | Raw expressions → resolved ones: every name looked up, every shape computed |
| `families` | Families as a model uses them: their parameters in order, with shapes |
| `find` | Where a model's text is: a file ending in .model here, or one of those that ship |
| `given` | Data from outside: JSON, NPZ, NPY and CSV → arrays by name |
| `graph` | What the graph of a model must be: no circles, all of it used, all of it seen by data |
| `groups` | The statements of one node: which elements each holds for |
| `indices` | What stands in brackets behind a name: plates in order, then components of the value |
| `inside` | Whether arrays lie in a domain: the first element that does not |
| `known` | Expressions of constants, data and sizes as numbers or arrays over a node's plates |
| `layout` | How a model's values lie in arrays: plate axes, ragged ones flat, then value axes |
| `lines` | The text of a model → its statements: one a line, going on inside open brackets |
| `links` | In which turn statements are resolved: a deterministic node after those it needs |
| `magnitude` | How large a number of a text is: programs compute in doubles, which end at 1e308 |
| `mistakes` | Mistakes in a model: what kind, where, why, and what to write instead |
| `outline` | A model's graph as plain data: plates, constants, data, nodes, edges |
| `ranges` | Arguments that can leave their domains: a mistake only with a point that shows it |
| `raw` | The syntax of a model: what a line says before any of its names means something |
| `reader` | Text → `Model`, or every mistake that can be found from the text alone |
| `samples` | Points at which arguments are looked at: values of constants, params and nodes |
| `scope` | What every name of a model means: plates, sizes, constants, nodes, and who uses them |
| `settle` | The last step: sizes that were found are put in, chains are recognised |
| `spell` | A model as text again: every statement with the names of its arguments |
| `syntax` | A statement's text → its syntax, by the grammar in `grammar.lark` |
| `unexpected` | What a parser did not expect, said as a colleague would |
| `unify` | Sizes that are found by what must fit together |
| `values` | A model that has been read: frozen values, every name resolved, every shape known |
| `walk` | Walking through expressions and distributions |

`reader` is the door: lines → syntax → names → expressions → sizes → graph → ranges.
"""
