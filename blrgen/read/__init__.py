"""Reading: family files, losses, recipes and the expressions in them.  No calculus.

| module | what it does |
|---|---|
| `agreement` | Whether the parts of a family file agree: parameters with statistics |
| `algorithms` | Published algorithms that are no recipes: `blrgen/algorithms.toml`.  Data only |
| `by_component` | Formulas of vectors by their components: arithmetic component by component |
| `claims` | [check] in a family file |
| `complaint` | How a check that knows nothing of the text says what is wrong with a part of it |
| `constants` | The size of a constant, known before SymPy compares or evaluates it |
| `declaration` | TOML files that declare something: loading |
| `declared` | The text of one family file → a `Family` |
| `defined` | Whether a loss is a number wherever its variable can be |
| `direction` | Charts that stand the wrong way round: told, with the lines that would be right |
| `domain` | Where parameters and random variables live: text → `Domain` and `Support` |
| `expression` | Text → expression, through a whitelist: the only reader of user formulas |
| `family` | Family files: TOML → `Family`.  Declarations only; what is derived comes later |
| `functions` | The functions an expression may call: how many arguments, of which rank |
| `joint` | Densities of several variables: `variable` and `support` as lists of equal length |
| `limits` | What keeps an expression small: exact numbers, bounded powers, finite real values |
| `loss` | Losses: text → `Loss`, a formula in the random variable and in data |
| `model` | Models: a text with plates → a `Model`, or every mistake in it with its place |
| `minimal` | Minimality: no combination of the statistics is constant on the support |
| `minimal_components` | The table of values behind minimality, for statistics over components |
| `names` | Words that mean something in a rule or in emitted code, and so cannot be given away |
| `product` | Products of independent families: q(x, y) = q₁(x) q₂(y) |
| `recipe` | Recipes: `blrgen/recipes.toml` → named roads through the approximations.  Data only |
| `sizes` | Sizes of vectors and matrices: their names, and whether products and sums fit together |
| `starter` | A family file to start from: every key with what it means, right as it stands |
| `suggest` | What somebody who wrote a name that is not known may have meant |
| `text` | The text of an expression before it is parsed: tokens, limits, and errors with a caret |
| `values` | The value of an expression at a point: exact fractions, or 60 digits |
| `what` | WHAT on the command line and in Python: a family, a recipe, or a path to a family file |

`expression` is the only door through which text becomes an expression.
"""
