"""The algebra all stages compute in: SymPy behind one typed boundary.

| module | what it does |
|---|---|
| `bessel` | I_ν(√s)/√s^ν, the Bessel function without its branch point: whole in s |
| `binomial` | E[g(j)] of a binomial j: what a count among n draws is expected to give |
| `calculus` | Differentials and gradients of scalars, vectors and matrices |
| `components` | Vectors by their components: commuting symbols, and sums over the components |
| `directions` | Displacements: a symbol for one, and how far a function moves along it |
| `indexed` | The index algebra: sums of products of symbols with indices |
| `invert` | Solving for a vector that also stands in sums: μ = f(η, Σ g(η)) for η |
| `multigamma` | The multivariate gamma function of symbolic size, and its derivatives |
| `named` | Differences and quotients of special functions that have a name of their own |
| `nodes` | Unevaluated functions that stand for what has no known closed form: A(λ) and E_q[f](λ) |
| `partial` | ∂f/∂x of scalars: sums, products, powers, and functions by their own derivative |
| `ranks` | Symbols with a rank, and the few functions between ranks |
| `ring` | What differs between scalar, matrix and component families, in one place |
| `solve` | Linear equations whose unknowns stand inside words: A X B = C |
| `span` | Linear relations between functions of some letters, coefficients free of them |
| `special` | Functions with a removable singularity, whole where their formula is not |
| `spelling` | Γ, ψ and Bessel functions in one spelling, so that equal expressions may look equal |
| `tables` | Matrices of mpmath's numbers: pivots, inverses, and multiples that share them |
| `width` | How large an expression would be, multiplied out |
| `woodbury` | Linear equations between vectors whose matrix is diagonal plus terms of low rank |
| `words` | Products of non-commuting symbols ("words") and sums of them in normal form |

Scalars and elementwise quantities are commuting real symbols.  Vectors and
matrices are non-commuting symbols with a rank; a bare scalar in a sum of square
matrices stands for that multiple of the identity (the unit of the algebra).
`ranks` has the symbols, `words` products of them and their normal form,
`calculus` differentials and gradients, `solve` linear equations between words.
"""
