"""What a log joint has of its blocks beside their statistics, and its expectations.

| module | what it does |
|---|---|
| `closed` | E[f(u)] under a Gaussian where it is an expression in mean and variance |
| `find` | Terms that are no statistic, as functions of one predictor each |
| `lines` | A function of latents as a function of one linear predictor |
| `values` | Site: a function of one predictor, and what stands for it in a block's update |
"""
