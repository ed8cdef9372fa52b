r"""The text stage: an expression as unicode, LaTeX, MathML or plain text.

| module | what it does |
|---|---|
| `alphabet` | Letters: Greek by name, superscripts and subscripts |
| `arrange` | SymPy expressions into `layout` nodes, in reading order |
| `contract` | Sums over the places of vectors and matrices as products |
| `escape` | Foreign text made safe in every format: names and prose may come from the user |
| `expression` | Expressions in four notations: one order, chosen in `layout`, four spellings |
| `indexed` | Expressions with indices as one line of plain text |
| `indexed_latex` | the same in LaTeX |
| `latex` | Expressions in LaTeX: \frac, \sqrt, m^{+} for the next value, S^{-1}, m^{\top} |
| `layout` | The order and shape in which a person writes an expression |
| `mathml` | Expressions in presentation MathML, which browsers show without any script |
| `names` | How a name is written: m_next is m⁺, beta1 is β₁, h_hat is ĥ |
| `plain` | Expressions in ASCII that SymPy reads back to the same value |
| `plates` | Expressions with indices as people write them |
| `table` | Plain aligned tables, and text measured as a terminal shows it |
| `terminal` | Expressions as one line of unicode mathematics: (1 − ρ)s + ρh, √s⁺, (S⁺)⁻¹g |

`layout` decides order and shape once; every notation spells it.
"""
