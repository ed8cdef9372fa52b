"""The algebra all stages compute in: SymPy behind one typed boundary.

Scalars and elementwise quantities are commuting real symbols.  Vectors and
matrices are non-commuting symbols with a rank; a bare scalar in a sum of square
matrices stands for that multiple of the identity (the unit of the algebra).
`ranks` has the symbols, `words` products of them and their normal form,
`calculus` differentials and gradients, `solve` linear equations between words.
"""
