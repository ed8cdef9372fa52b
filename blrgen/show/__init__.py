"""The show stage: from any stage's product to text, LaTeX, Markdown, HTML and JSON.

`layout` orders an expression as a person would write it; `plain`, `terminal`,
`latex` and `mathml` spell that order in one notation each (`expression` is
their front door).  `page` gathers a derivation once; `text`, `document`,
`markdown`, `html_page` and `data` lay it out.
"""

from blrgen.show.derivation import notebook, render

__all__ = ["notebook", "render"]
