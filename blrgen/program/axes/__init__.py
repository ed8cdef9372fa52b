'''Programs over named axes: equations with indices, from which loops are found.

| module | what it does |
|---|---|
| `nodes` | letters, quantities, references, reductions, linear algebra; `Let`, `Seq`, `Program` |
| `text` | the notation: programs as text, text as programs |
| `check` | the type checker: eight rules, messages that show both sides' axes |
| `interpret`, `evaluate`, `meanings` | the meaning, in NumPy: each equation as a whole array |
| `lowered`, `parts` | assignments of a rule as equations with indices; as a part of it |
| `formed` | a symmetric matrix that is made entry by entry, factored and solved with once |
| `congruent` | Xᵀ A⁻¹ X with a factor of A as a square |
| `last_values` | where recurrences ended at one place here, at another one there |
| `labels` | one-hot rows: gathers, sums by label |
| `rows` | the program over the rows of a minibatch |
| `anf` | every reduction and operation of linear algebra as an equation by itself |
| `stable` | log-sum-exp without overflow, its exponentials once |
| `turned` | Symmetric matrices are read along their rows |
| `begun` | one factor of several that are 0 where a recurrence begins |
| `earlier` | what is kept is not kept again a place late |
| `forms` | xᵀ A⁻¹ y by half a solution for each side |
| `along` | square matrices of a recurrence lie along the sums that multiply them |
| `thin` | long and thin matrices are multiplied along their long side |
| `beside` | what a recurrence only hands out is made beside what it is made of |
| `factored` | a matrix that many systems have is factored once |
| `moments` | sums over rows of polynomials of their data as sums of data |
| `narrowed` | no letters that nothing varies on |
| `alike` | equations that say the same are one |
| `lettered` | one letter for one axis, as far as that goes |
| `contracted` | sums one letter at a time; what rows share outside of them |
| `gathered` | what is read by labels lies label by label |
| `joined` | sums with the same data are one |
| `strips` | what may be done for some rows at a time, for targets with whole arrays |
| `halved` | quadratic forms by half of their matrix |
| `written_out`, `factors` | axes of known small sizes: each entry an equation |
| `writable` | what cannot be written out |
| `pivots` | the same, with the pivots of what must be definite |
| `separated` | exponentials of sums as products, made anew where these vanish |
| `share` | functions called once |
| `quotients` | one division where many would be by the same number |
| `again` | what passes after a finished sum compute again instead of keeping it |
| `unbroken` | recurrences that begin as after zeros, in one piece |
| `kept` | what a recurrence reads of itself, apart from what is kept |
| `dead` | equations that nothing needs are left out |
| `order` | which letter is outside of which |
| `split` | parts of products by their letters |
| `outside` | what a recurrence does not change stands before it |
| `structure` | half of what is symmetric, no zeros of what is triangular |
| `innermost` | which letter goes innermost in one equation |
| `schedule` | the rule that finds the loops |
| `blocks` | blocks of rows, by columns or by rows |
| `scratch` | how much of every value is kept |
| `parallel`, `once` | what may be done in parts at the same time; what is computed once |
| `ragged` | loops over ragged rows, for targets with whole arrays |
| `prepared` | the passes in their order: `scheduled(program)` |

Arithmetic, calls, comparisons and constants are the nodes of `blrgen.program.nodes`, entry by
entry.  A program is written in its notation or made of its nodes; both give the same value:

    from blrgen.program.axes.text import program

    step = program(
        letters="n:N, i,j:d",                       # a letter, or several, over an axis
        given="X[N,d], y[N], w[d]",                 # arrays with their axes; S[d,d] spd; z[N] in K
        body="""
            z[n] = sum(j, X[n,j] * w[j])
            p[n] = logistic(z[n])
            f = sum(n, softplus(z[n]) - y[n] * z[n])
            g[i] = sum(n, (p[n] - y[n]) * X[n,i])
            H[i,j]: sym = sum(n, p[n] * (1 - p[n]) * X[n,i] * X[n,j])
        """,
        outs="f, g, H",
    )
    check(step)
    interpret(step, {"X": X, "y": y, "w": w})       # → {"f": …, "g": …, "H": …}

    functions(scheduled(step), "step")              # its kernels: `blrgen.emit.tree`

    z = Let("z", ("n",), Red("sum", ("j",), mul(ref("X", "n", "j"), ref("w", "j"))))

A recurrence is `for t:` with its equations below (`Seq`).  Its own values are read one step back
(`a[t-1]`; `a[u+1]` where the letter is declared `down`), with `first(e), …` for the equation at
the first index or `init(e), …` for the value before it; outside, `a[last(t)]` is the value at
which it ended and `until(small[t])` ends it early.  A sum over t inside of it adds up as it
goes.  An iteration is a recurrence over an axis of iterations.  What belongs to rows of
different lengths is ragged: `w:W under n by ptr`, read as `y[n,w]`, stored row after row.
`solve(S[k,i,j], b[n,k,i])` works on the last letters, b's beginning with one of the matrix's,
and gives back b's letters.  `z[N] in K` are labels: `mu[z[n],i]` gathers, `[z[n] == k]` is 1
where they agree, and `sum(n, [z[n] == k] * x[n])` adds up by label.
'''
