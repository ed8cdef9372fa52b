"""Family → Geometry: log-partition, mean map, Fisher metric, entropy, charts.  No losses.

| module | what it does |
|---|---|
| `absorbed` | Functions that are affine in the statistics: f = c + Σ_i ⟨c_i |
| `array_newton` | μ → λ by damped Newton steps on vectors and matrices together |
| `array_place` | A point of a family with vectors and matrices as a user names it |
| `array_values` | Vectors and matrices as a user gives them: numbers, shapes |
| `at_sizes` | Families of several variables or of symbolic size against their own density |
| `charts` | Charts: natural parameters as functions of working ones, and back |
| `component_law` | Mean and variance of every component of a vector, in working parameters |
| `component_newton` | μ → λ for families of vectors without a closed form: Newton's method |
| `component_place` | A point of a family of vectors as a user names it |
| `conjugate` | The conjugate prior of a family as a likelihood, and Bayes' rule with it |
| `coordinates` | The variables of a density in real coordinates, with the logarithm of the volume |
| `cubature` | Weighted points of a support of vectors at a concrete size: Σ w f(x) is ∫ f |
| `derived` | What a geometry also has, derived when it is asked for: a mixin of `Geometry` |
| `divergence` | Divergences between two members of a family, all of them read off from A |
| `drawn` | How the variables of a family are drawn, one after the other, in primitive draws |
| `eliminate` | μ(λ) = μ down to one equation: all parameters but one in closed form |
| `expected` | E_q[f] of a function of the variable, in closed form where a rule gives one |
| `falling` | Whether a density falls off fast enough at the ends of its support |
| `fisher` | The Fisher metric in every chart, transported both ways, and the natural gradient |
| `fit` | Maximum likelihood from data: the mean of the statistics, then μ → λ |
| `fit_samples` | Maximum likelihood for vectors, matrices, several variables and products |
| `geometry` | The geometry of a family: A, μ = ∇A, F = ∇²A, entropy, charts |
| `holes` | Points inside the domain where a formula is 0/0: zeros of what it divides by |
| `hull` | Whether mean parameters can be those of a density: inside the convex hull of T(support) |
| `inside` | Where values stand in their domains: how far inside a cone, the ends of an interval |
| `inverse` | μ → λ in closed form, where the mean map can be solved one equation at a time |
| `inversion` | What a search for natural parameters finds |
| `invert` | μ → λ for any family: the closed form, one equation |
| `invert_arrays` | μ → λ for families with vectors and matrices, at the sizes that the means tell |
| `invert_components` | μ → λ for families of vectors: what a user names |
| `joint_numbers` | Numbers of several scalar variables with a log-partition by quadrature |
| `law` | Mean and variance of the variable itself, and how it is drawn, in working parameters |
| `likelihood` | Maximum likelihood is a moment match |
| `near_ends` | Whether what must be positive is so all over the declared domains |
| `nested` | Expectations in several dimensions: nested sums over real coordinates of the density |
| `newton` | μ → λ for scalar parameters by safeguarded Newton steps, over the whole domain |
| `one_equation` | The one equation that elimination leaves, μ_k(s) = μ_k |
| `packed` | Vectors and matrices as columns of numbers: packed coordinates, and F over them |
| `place` | A point that a user names: values by name, checked against the declared domains |
| `points` | Points inside the declared domains, and the sign of an expression over them |
| `points_at_sizes` | Points inside the domains of a family |
| `product` | The geometry of a product: sums and blocks of what its factors have |
| `readable` | Forms that a person would write: the same value, the shortest of a few spellings |
| `recognise` | Which shipped family a density is, by matching exponents |
| `recognise_matrix` | The same for vectors and matrices: exponents are compared word by word |
| `samples` | Observations of vectors, matrices and several variables: shapes and supports |
| `sized` | A family of vectors at a concrete size: points, numbers, and the density's own sums |
| `tabulated` | The density itself, as a table of nodes and probabilities |
| `verify` | Checking what a declaration claims: a given log-partition |
| `verify_components` | Checking the log-partition of a family of vectors against its density |
| `simplex` | Working parameters on the simplex: p with Σ p = 1 from the natural parameters |
| `working` | Working parameters of natural ones that were found, as doubles by name |
| `integrate` | The log-partition A(λ) = log ∫ h(θ) exp⟨λ, T(θ)⟩ dθ, by rules on the exponent |
| `numbers` | A, μ and expectations without a closed form: quadrature and summation over a density |
"""

from blrgen.geometry.geometry import Geometry, geometry_of, kept_geometry

__all__ = ["Geometry", "geometry_of", "kept_geometry"]
