"""The show stage: from any stage's product to text, LaTeX, Markdown, HTML and JSON.

| module | what it does |
|---|---|
| `as_json` | `derive --format json`: the contract described in docs/json.md |
| `derivation` | A derivation in any format: text, LaTeX, Markdown, HTML or JSON |
| `document` | A derivation as a complete LaTeX document (amsmath), one tagged display a line |
| `html_page` | A derivation as one self-contained HTML page: MathML, a little style, no scripts |
| `markdown` | A derivation in Markdown with $$ mathematics |
| `model` | What is said of a model: its statements, its graph, or its mistakes as JSON |
| `model_derivation` | A model's algorithm as JSON; its page of text is in `model_page` |
| `model_page` | A model's algorithm as the section of a paper |
| `model_sites` | What of a log joint is no statistic, on the page of a model |
| `page` | What every format shows of a derivation, gathered once: header, lines, algorithm |
| `paint` | Colour on a terminal, only when asked for |
| `proof` | What was proved, how, or where it fails: a report of a `Proof` or a `Verdict` |
| `rows` | Long right-hand sides in rows: where a sum is broken when it does not fit |
| `table_pages` | The table of the paper in Markdown, and a page for each of its rows |
| `text` | A derivation for the terminal: numbered lines as on a board, then the algorithm |
| `timings` | How long stages and passes took, as a table: `--time-passes` |
| `geometry` | A family's geometry: `blrgen show FAMILY` |

Expressions are spelled by `blrgen.text`.  `page` gathers a derivation once; `text`,
`document`, `markdown`, `html_page` and `as_json` lay it out; `geometry` and `proof` are
the same for a family and for what was proved.
"""

from blrgen.show.derivation import notebook, render
from blrgen.show.geometry import render_geometry
from blrgen.show.proof import render_proof

__all__ = ["notebook", "render", "render_geometry", "render_proof"]
