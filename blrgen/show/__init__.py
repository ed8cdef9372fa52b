"""The show stage: from any stage's product to text, LaTeX, Markdown, HTML and JSON.

`layout` orders an expression as a person would write it; `plain`, `terminal`,
`latex` and `mathml` spell that order in one notation each (`expression` is
their front door).  `page` gathers a derivation once; `text`, `document`,
`markdown`, `html_page` and `data` lay it out; `geometry` and `proof` are the
same for a family and for what was proved; `table` aligns plain text.
"""

from blrgen.show.derivation import notebook, render
from blrgen.show.geometry import render_geometry
from blrgen.show.proof import render_proof

__all__ = ["notebook", "render", "render_geometry", "render_proof"]
