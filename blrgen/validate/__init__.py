"""The validate stage: emitted or foreign source against a rule, however either was made.

| module | what it does |
|---|---|
| `as_json` | What `verify` found, as JSON: `blrgen.verdict/1` |
| `averaged` | Two draws observed one by one, then a step: estimates and inputs are averaged |
| `candidates` | What a line of code may mean: the parts of a rule, small ones first |
| `carried` | What a class keeps from one step to the next beside the states of the rule |
| `changes` | Exact changes of state, proved |
| `claims` | What is claimed of an emitted class beside the states after its step |
| `derivation` | All that is claimed of a derivation, proved: what `blrgen verify WHAT` runs |
| `drawn_law` | The emitted draw of a full-covariance candidate has the law N(mean, P⁻¹) |
| `emitted` | Translation validation: emitted source, run on symbols |
| `emitted_helpers` | The functions an emitted file brings along |
| `emitted_run` | One step of an emitted class on symbols |
| `joined` | Emitted functions that run kernels on stretches of arrays, run on symbols |
| `lapack` | Routines of LAPACK and BLAS on numbers modulo a prime, as their documentation says |
| `later_step` | A step after others of the same object |
| `locate` | Which line of a refuted step function is wrong |
| `match` | Which argument of a step function is which quantity of a rule, and what it gave back |
| `misfit` | What was not compared and why, in words for whoever wrote the class |
| `modes` | The kinds of values a step is run on |
| `mutate` | Systematic small mistakes in source, to see that every one is found |
| `outline` | What the class of a file says of itself: its methods and what they take |
| `reference` | A rule as functions of its old state: what a step function is held against |
| `sized` | Emitted files whose sizes are numbers, run on numbers modulo a prime at that very size |
| `solvers` | The emitted solvers and loops over matrix entries, run on numbers modulo a prime |
| `special` | Emitted special functions: what they mean in a proof, and whether they compute that |
| `stepped` | An emitted class on numbers: compiled, built inside its domain, and stepped |
| `subtle` | Mistakes that a run on a few numbers does not show |
| `unchanged` | Whether support functions of a file are the very text of the runtime |
| `verify_file` | Proving or refuting a step function that somebody wrote, from its source |
| `very_text` | An emitted file against what is emitted for its derivation |
| `reading` | Reading a step function: its syntax tree is given a meaning |
| `mixture` | With one component it is the rule of the family; and in numbers |
| `model` | A model's algorithm and its class: what is proved, and what is compared in numbers |
| `symbolic` | Running Python source on symbols: exact literals, stand-in modules |
"""
