"""Models that are wrong: each text with every mistake that it has, as (kind, line, column)."""

from __future__ import annotations

from typing import NamedTuple


class Wrong(NamedTuple):
    text: str
    mistakes: list[tuple[str, int, int]]


WRONG = [
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1 observed""",
        [("syntax", 2, 22)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian 0, 1 observed""",
        [("syntax", 2, 8)],
    ),
    Wrong(
        """\
plate n N
x[n] ~ gaussian(0, 1) observed""",
        [("syntax", 1, 9)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1) observd""",
        [("syntax", 2, 23)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 2^2) observed""",
        [("syntax", 2, 21)],
    ),
    Wrong(
        """\
plate n in N
x[n] <- gaussian(0, 1)
y[n] ~ gaussian(0, 1) observed""",
        [("syntax", 2, 6)],
    ),
    Wrong(
        """\
plate n in N
const a in (0, oo
x[n] ~ gaussian(0, a) observed""",
        [("syntax", 2, 18)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 'a') observed""",
        [("syntax", 2, 20)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1) observed missing""",
        [("syntax", 2, 32)],
    ),
    Wrong(
        """\
plate n in N
x[n] = 
y[n] ~ gaussian(0, 1) observed""",
        [("syntax", 2, 7)],
    ),
    Wrong(
        """\
family f = lifetime.toml
plate n in N
x[n] ~ gaussian(0, 1) observed""",
        [("syntax", 1, 12)],
    ),
    Wrong(
        """\
plate n in N
mu ~ normal(0, 1)
x[n] ~ gaussian(mu, 1) observed""",
        [("unknown-family", 2, 6)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gausian(0, 1) observed""",
        [("unknown-family", 2, 8)],
    ),
    Wrong(
        """\
family f = "nothere.toml"
plate n in N
x[n] ~ f(1) observed""",
        [("unknown-family", 1, 8)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(mu, 1) observed""",
        [("unknown-name", 2, 17)],
    ),
    Wrong(
        """\
plate n in N
mean ~ gaussian(0, 1)
x[n] ~ gaussian(maen, 1) observed""",
        [("unknown-name", 3, 17)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, sigmoid(1)) observed""",
        [("unknown-name", 2, 20)],
    ),
    Wrong(
        """\
plate n in N
x[m] ~ gaussian(0, 1) observed
y[n] ~ gaussian(0,1) observed""",
        [("unknown-name", 2, 3)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(pi, 1) observed""",
        [("unknown-name", 2, 17)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1) observed
x[n] ~ gaussian(0, 2) observed""",
        [("duplicate", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
const a in R
param a in R
x[n] ~ gaussian(a, 1) observed""",
        [("duplicate", 3, 7)],
    ),
    Wrong(
        """\
plate n in N
plate n in M
x[n] ~ gaussian(0, 1) observed""",
        [("duplicate", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
const N in R
x[n] ~ gaussian(N, 1) observed""",
        [("duplicate", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
const seed in R
x[n] ~ gaussian(seed, 1) observed""",
        [("duplicate", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
steps[n] ~ gaussian(0, 1) observed""",
        [("duplicate", 2, 1)],
    ),
    Wrong(
        """\
plate n in tol
x[n] ~ gaussian(0, 1) observed""",
        [("duplicate", 1, 12)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, 1)
mu = 3
x[n] ~ gaussian(mu, 1) observed""",
        [("duplicate", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
x[1] ~ gaussian(0, 1)
x[n] ~ gaussian(x[n-1], 1) observed""",
        [("duplicate", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0) observed""",
        [("arguments", 2, 8)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1, 2) observed""",
        [("arguments", 2, 23)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, sd = 1) observed""",
        [("arguments", 2, 20)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(m = 0, m = 1, v = 2) observed""",
        [("arguments", 2, 24)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(m = 0, 1) observed""",
        [("arguments", 2, 24)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(m = 0, lam2 = -1) observed""",
        [("arguments", 2, 24)],
    ),
    Wrong(
        """\
plate n in N
(mu, tau, s) ~ normal-gamma(0, 1, 1, 1)
x[n] ~ gaussian(mu + s, tau) observed""",
        [("arguments", 2, 16)],
    ),
    Wrong(
        """\
plate n in N
mu ~ normal-gamma(0, 1, 1, 1)
x[n] ~ gaussian(mu, 1) observed""",
        [("arguments", 2, 6)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(exp(0, 1), 1) observed""",
        [("arguments", 2, 17)],
    ),
    Wrong(
        """\
plate n in N
z ~ bernoulli(0.5)
x[n] ~ choose(z, point(0, 1), poisson(2)) observed""",
        [("arguments", 3, 18)],
    ),
    Wrong(
        """\
plate n in N
a ~ gaussian(b, 1)
b ~ gaussian(a, 1)
x[n] ~ gaussian(a, 1) observed""",
        [("cycle", 2, 1)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(x[n], 1) observed""",
        [("cycle", 2, 1)],
    ),
    Wrong(
        """\
plate n in N
a = b + 1
b = c
c = a
x[n] ~ gaussian(a, 1) observed""",
        [("cycle", 2, 1)],
    ),
    Wrong(
        """\
plate t in T
a[1] ~ gaussian(0, 1)
a[t] ~ gaussian(b[t], 1)
b[t] ~ gaussian(a[t], 1)
x[t] ~ gaussian(b[t], 1) observed""",
        [("cycle", 2, 1)],
    ),
    Wrong(
        """\
plate d in L[w]
plate w in M[d]
x[w,d] ~ gaussian(0, 1) observed""",
        [("cycle", 1, 14)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
mu[k] ~ gaussian(0, 1)
x[n] ~ gaussian(mu[n], 1) observed""",
        [("index", 4, 20)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
mu[k] ~ gaussian(0, 1)
x[n] ~ gaussian(mu, 1) observed""",
        [("index", 4, 17)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
mu[k] ~ gaussian(0, 1)
x[n] ~ gaussian(mu[k], 1) observed""",
        [("index", 4, 20)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, 1)
x[n] ~ gaussian(mu[n], 1) observed""",
        [("index", 3, 17)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
mu[k] ~ gaussian(0, 1)
r[n] ~ poisson(3)
x[n] ~ gaussian(mu[r[n]], 1) observed""",
        [("index", 5, 20)],
    ),
    Wrong(
        """\
plate t in T
x[t] ~ gaussian(x[t-1], 1) observed""",
        [("index", 2, 19)],
    ),
    Wrong(
        """\
plate t in T
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-2], 1)
y[t] ~ gaussian(x[t], 1) observed""",
        [("index", 3, 19)],
    ),
    Wrong(
        """\
plate t in T
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t+1], 1)
y[t] ~ gaussian(x[t], 1) observed""",
        [("index", 3, 19)],
    ),
    Wrong(
        """\
plate n in N
plate k in 3
mu[k] ~ gaussian(0, 1)
x[n] ~ gaussian(mu[4], 1) observed""",
        [("index", 4, 20)],
    ),
    Wrong(
        """\
plate n in N
plate k in 3
mu[k] ~ gaussian(0, 1)
x[n] ~ gaussian(mu[0], 1) observed""",
        [("index", 4, 20)],
    ),
    Wrong(
        """\
plate d in D
plate i in L[d]
x[i] ~ gaussian(0, 1) observed""",
        [("index", 3, 3)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(n, 1) observed""",
        [("index", 2, 17)],
    ),
    Wrong(
        """\
plate n in N
x[n,n] ~ gaussian(0, 1) observed""",
        [("index", 2, 5)],
    ),
    Wrong(
        """\
plate t in T
x[1] ~ gaussian(0, 1) observed""",
        [("index", 2, 1)],
    ),
    Wrong(
        """\
plate t in T
x[1] ~ gaussian(x[t], 1)
x[t] ~ gaussian(0, 1) observed""",
        [("duplicate", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
const g[n] in labels(G)
x[n] ~ gaussian(g[n], 1) observed""",
        [("index", 3, 17)],
    ),
    Wrong(
        """\
plate n in N
const A in R^(p,q)
const b in R^p
x[n] ~ gaussian-full(A*b, eye(p)) observed""",
        [("size", 4, 24)],
    ),
    Wrong(
        """\
plate n in N
const m in R^p
x[n] ~ gaussian-full(m, eye(d)) observed""",
        [("size", 3, 25)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian-full(0, 1) observed""",
        [("size", 2, 22), ("size", 2, 25)],
    ),
    Wrong(
        """\
plate n in N
const a in R^p
x[n] ~ gaussian(a, 1) observed""",
        [("size", 3, 17)],
    ),
    Wrong(
        """\
plate n in N
const a in R^p = 0
x[n] ~ gaussian(sum(a), 1) observed""",
        [("size", 2, 18)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
pi ~ dirichlet(ones(3))
mu[k] ~ gaussian(0, 1)
z[n] ~ categorical(pi)
x[n] ~ gaussian(mu[z[n]], 1) observed""",
        [("size", 6, 20)],
    ),
    Wrong(
        """\
plate n in N
z ~ bernoulli(0.5)
x[n] ~ choose(z, poisson(1), poisson(2), poisson(3)) observed""",
        [("size", 3, 8)],
    ),
    Wrong(
        """\
plate n in N
const A in R^(p,p)
x[n] ~ gaussian-full(zeros(p), A + 1) observed""",
        [("size", 3, 36)],
    ),
    Wrong(
        """\
plate n in N
const a in R^p
const b in R^q
x[n] ~ gaussian(dot(a, b), 1) observed""",
        [("size", 4, 24)],
    ),
    Wrong(
        """\
plate n in 0
x[n] ~ gaussian(0, 1) observed""",
        [("size", 1, 12)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, 1)
x[n] ~ gaussian(0, mu) observed""",
        [("domain", 3, 20)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, -2) observed""",
        [("domain", 2, 20)],
    ),
    Wrong(
        """\
plate n in N
const v in [0, oo)
x[n] ~ gaussian(0, v) observed""",
        [("domain", 3, 20)],
    ),
    Wrong(
        """\
plate n in N
w ~ gaussian(0, 1)
x[n] ~ bernoulli(w) observed""",
        [("domain", 3, 18)],
    ),
    Wrong(
        """\
plate n in N
const a in (0, oo) = -1
x[n] ~ gaussian(0, a) observed""",
        [("domain", 2, 22)],
    ),
    Wrong(
        """\
plate n in N
param W in R^(p,q)
x[n] ~ gaussian-full(zeros(p), W*transpose(W)) observed""",
        [("domain", 3, 32)],
    ),
    Wrong(
        """\
plate n in N
const p in (0, 1)^K
x[n] ~ categorical(p) observed""",
        [("domain", 3, 20)],
    ),
    Wrong(
        """\
plate n in N
param a in R
x[n] ~ poisson(log(a)) observed""",
        [("domain", 3, 16)],
    ),
    Wrong(
        """\
plate n in N
const r in R
x[n] ~ binomial(0.5, r) observed""",
        [("domain", 3, 22)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1/0) observed""",
        [("domain", 2, 22)],
    ),
    Wrong(
        """\
plate n in N
const a in (1, 0)
x[n] ~ gaussian(a, 1) observed""",
        [("domain", 2, 12)],
    ),
    Wrong(
        """\
plate n in N
tau ~ gamma(0, 0)
x[n] ~ gaussian(0, 1/tau) observed""",
        [("improper", 2, 13), ("improper", 2, 16)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, oo)
x[n] ~ gaussian(mu, 1) observed""",
        [("improper", 2, 18)],
    ),
    Wrong(
        """\
plate n in N
L ~ wishart(eye(3), 2)
x[n] ~ gaussian-full(zeros(3), L) observed""",
        [("improper", 2, 21)],
    ),
    Wrong(
        """\
plate n in N
pi ~ dirichlet(zeros(3))
x[n] ~ categorical(pi) observed""",
        [("improper", 2, 16)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
x[n] ~ gaussian(0, 1) observed""",
        [("unused", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
const a in R
x[n] ~ gaussian(0, 1) observed""",
        [("unused", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
z[n] ~ bernoulli(0.5)
x[n] ~ choose(z[n], point(0), gamma(1, 1)) observed""",
        [("measure", 3, 21)],
    ),
    Wrong(
        """\
plate n in N
z[n] ~ bernoulli(0.5)
x[n] ~ choose(z[n], poisson(1), gamma(1, 1)) observed""",
        [("measure", 3, 33)],
    ),
    Wrong(
        """\
plate n in N
s[n] = 3 observed
x[n] ~ gaussian(s[n], 1) observed""",
        [("measure", 2, 1)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ point(3) observed""",
        [("measure", 2, 8)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1)""",
        [("nothing-observed", 2, 1)],
    ),
    Wrong(
        "",
        [("nothing-observed", 1, 1)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, 1)
nu ~ gaussian(0, 1)
x[n] ~ gaussian(mu, 1) observed""",
        [("unidentified", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
param a in R
x[n] ~ gaussian(0, 1) observed""",
        [("unidentified", 2, 7)],
    ),
    Wrong(
        """\
plate n in N
mu ~ gaussian(0, 1)
b ~ gaussian(mu, 1)
x[n] ~ gaussian(0, 1) observed""",
        [("unidentified", 2, 1), ("unidentified", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
plate k in K
plate j in J
const a in R
pi ~ dirchlet(ones(K))
mu[k] ~ gaussian(0, -1)
z[n] ~ categorical(pi)
x[n] ~ gaussian(mu[z[n]], 1, 2) observed
y[n] ~ gaussian(nu, 1)""",
        [
            ("unused", 3, 7),
            ("unused", 4, 7),
            ("unknown-family", 5, 6),
            ("domain", 6, 21),
            ("arguments", 8, 30),
            ("unknown-name", 9, 17),
        ],
    ),
    Wrong(
        """\
plate n in N
param k in integers >= 1
x[n] ~ poisson(k) observed""",
        [("domain", 2, 12)],
    ),
    Wrong(
        """\
plate n in N
param k in labels(K)
x[n] ~ poisson(2) observed""",
        [("domain", 2, 12)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(0, 1) observed
x ~ gaussian(0, 1)""",
        [("duplicate", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
const S in SPD
x[n] ~ gaussian-full(zeros(d), S) observed""",
        [("size", 2, 12)],
    ),
    Wrong(
        """\
plate i in L[d]
x[i] ~ gaussian(0, 1) observed""",
        [("unknown-name", 1, 14)],
    ),
    Wrong(
        """\
plate n in N times c
const c in R
x[n] ~ gaussian(0, 1) observed""",
        [("domain", 1, 20)],
    ),
    Wrong(
        """\
plate n in N times c[n]
const c[n] in R
x[n] ~ gaussian(0, 1) observed""",
        [("domain", 1, 20)],
    ),
    Wrong(
        """\
plate n in N
const lambda in R
const lambda_ in R
x[n] ~ gaussian(lambda + lambda_, 1) observed""",
        [("duplicate", 3, 7)],
    ),
    Wrong(
        """\
plate n in N
a ~ gaussian(0, 1)
x[n] ~ gaussian(a(3), 1) observed""",
        [("unknown-name", 3, 17)],
    ),
    Wrong(
        """\
plate n in N
x[n] ~ gaussian(1e999, 1) observed""",
        [("syntax", 2, 17)],
    ),
    Wrong(
        """\
plate n in N
const A in R^(p,p)
x[n] ~ gaussian-full(A*A, eye(p)) observed""",
        [("size", 3, 22)],
    ),
    Wrong(
        """\
plate n in N
const A in R^(p,p)
const b in R^p
x[n] ~ gaussian-full(b*A, eye(p)) observed""",
        [("size", 4, 24)],
    ),
    Wrong(
        """\
plate n in N
plate m in M
x[n] ~ gaussian(0, 1) observed
y[m] ~ gaussian(x[m], 1) observed""",
        [("index", 4, 19)],
    ),
    Wrong(
        """\
plate n in N
z[n] ~ categorical(ones(2)/2)
mu ~ gaussian(0, 1)
x[n] ~ gaussian(mu[z[n]], 1) observed""",
        [("index", 4, 17)],
    ),
    Wrong(
        """\
plate s in S
plate t in T[s]
x[s,1] ~ gaussian(0, 1)
x[s,t] ~ gaussian(x[t-1], 1)
y[s,t] ~ gaussian(x[s,t], 1) observed""",
        [("index", 4, 19)],
    ),
    Wrong(
        """\
plate s in S
plate t in T[s]
m[s] ~ gaussian(0, 1)
y[s,t] ~ gaussian(m[1] + sum(y2[s,:]), 1) observed
y2[s,t] ~ gaussian(0, 1)""",
        [("index", 4, 35)],
    ),
    Wrong(
        """\
const a in R = b
const b in R = a
x ~ gaussian(a + b, 1) observed""",
        [("cycle", 1, 7)],
    ),
    Wrong(
        """\
const a in R = mu
mu ~ gaussian(0, 1)
x ~ gaussian(a + mu, 1) observed""",
        [("domain", 1, 16)],
    ),
    Wrong(
        """\
mu ~ gaussian(0, 1)
const a in (mu, oo)
x ~ gaussian(a + mu, 1) observed""",
        [("domain", 2, 13)],
    ),
    Wrong(
        """\
const a in R+
const b in positive
x ~ gaussian(a, b) observed""",
        [("syntax", 1, 13), ("syntax", 2, 12)],
    ),
    Wrong(
        """\
mu = gaussian(0, 1)
x ~ gaussian(mu, 1) observed""",
        [("unknown-name", 1, 6)],
    ),
    Wrong(
        """\
plate n in N
L ~ wishart(eye(d), d - 2)
x[n] ~ gaussian-full(zeros(d), L) observed""",
        [("domain", 2, 21)],
    ),
    Wrong(
        """\
plate t in 2
x[1] ~ gaussian(0, 1)
x[3] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1], 1)
y[t] ~ gaussian(x[t], 1) observed""",
        [("index", 3, 1)],
    ),
    Wrong(
        """\
plate n in N
z[n] ~ categorical(ones(K))
mu[k] ~ gaussian(0, 1)
plate k in K
x[n] ~ gaussian(mu[z[n]], 1) observed""",
        [("domain", 2, 20)],
    ),
    Wrong(
        """\
x ~ gaussian(0,
  sd = 2,
  exp()) observed""",
        [("arguments", 2, 3), ("arguments", 3, 3), ("arguments", 3, 3)],
    ),
    Wrong(
        """\
plate n in N
plate i in L[n]
plate j in J
m ~ gaussian(0, 1)
x[n,j,i] ~ gaussian(m, 1) observed""",
        [("index", 5, 7)],
    ),
    Wrong(
        """\
plate n in N
m ~ gaussian(0, 1e400)
x[n] ~ gaussian(m, 2**3**4**5 + 1e-320) observed""",
        [("domain", 2, 17), ("domain", 3, 23), ("domain", 3, 33)],
    ),
]
