"""A small frozen language for what is to be computed, free of SymPy from here on.

| module | what it does |
|---|---|
| `absorbed` | Numbers in front of a quotient or a clip go to its terms |
| `arithmetic` | Arithmetic on nodes that knows 0, 1 and other numbers |
| `averages` | Expectations without a closed form → calls, and what those calls are |
| `bessel` | Quotients of Bessel functions I of neighbouring orders, in two that keep their digits |
| `bessel_kernels` | Quotients of Bessel kernels G_ν(s) = I_ν(√s)/√s^ν, whole in s |
| `besselk` | Bessel functions K and their derivatives |
| `cancelling` | Sums over components of 1/ψ′ that cancel against what they are sums of |
| `cleared` | No division by a number inside a divisor |
| `cse` | Common subexpressions of a body, each computed once |
| `dead` | Equations that nothing reads are dropped |
| `density` | Expectations without a closed form, as programs have them |
| `errors` | erf and erfc in the forms that keep their digits |
| `expand` | Calls that a target lacks, written with those it has; finite wherever their value is |
| `expectations` | Expectations without a closed form |
| `exponential_sums` | Sums and differences of exponentials, where those overflow or cancel |
| `exponentials` | Sums of exponentials over the components by their logarithm |
| `fading` | Which states fade away, and may be 0 where they are almost 0 |
| `falls` | Differences of ψ and of ψ′ at two points of which one is known to be the larger |
| `fractions_of_sums` | Quotients of sums of exponentials that neither overflow nor cancel |
| `hoist` | What does not change from element to element is computed once a step |
| `inspect` | Nodes as text |
| `kernels` | The kernels of a rule: what each is called, says of itself and computes |
| `laws` | The laws that noise can have: a standard one, shifted and scaled by rational numbers |
| `logistic` | Quotients of exponentials that would overflow, as powers of the logistic function |
| `lower` | A `Rule` of SymPy expressions → its variables, and any of its assignments as a part |
| `lowering` | SymPy expressions → entries, by a method a class of SymPy |
| `moments` | Mean and standard deviation of the components of a vector: a kernel like the step's |
| `naming` | Names for what a pass introduces, read off the expression: `one_minus_beta1` |
| `nodes` | Expressions: immutable trees with exact constants |
| `order` | Equations in an order in which everything is computed before it is read |
| `part` | One entry point of a rule as equations with indices, the numbers of a step apart |
| `passes` | The passes in their order, from parts as they are read to parts ready to be emitted |
| `pieces` | A kernel that is too long for one loop: several, and how each is called |
| `plan` | Which entry points a rule has |
| `program` | What a rule keeps, reads and draws, as typed variables |
| `quotient_forms` | eˡ/Πdᵠ and its logarithm, for sums d of exponentials, finite far out |
| `recover` | Noise read back from where it moved the loss to, instead of kept beside it |
| `sized` | A program whose sizes are numbers: d = 4 in every type, identity and formula |
| `sizes` | The sizes of a rule's vectors and matrices: names without a quantity of their own |
| `special` | Special functions in expressions: the forms in which their digits survive |
| `split` | A body that is too long for one loop, as several that are run one after the other |
| `stable` | Forms that keep their digits where the textbook ones lose them |
| `strength` | Cheaper operations for the same numbers: x² → x·x, and x³ … x⁸ by multiplication |
| `sums` | Sums of exponentials as polynomials: Σ c · m · eˡ with exact numbers c |
| `terms` | The terms of a body's long sums, in one order for all of them |
| `types` | Types: axes and a structure |
| `variables` | The quantities of a rule as typed variables |
| `watched` | Which states are looked at after a step |
| `ways` | Which kernels a rule of arrays has, and in which ways they are run |
| `words` | Products of non-commuting symbols, read entry by entry |
| `mixture` | The rule of a mixture → one program over axes |
| `model` | Algorithms for models: state, one program over axes for each method |
| `axes` | Programs over named axes: equations with indices, from which loops are found |
"""
