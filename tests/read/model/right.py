"""Models that are right and unusual: the order of the text, names, plates, chains, choices."""

RIGHT = {
    "order free": """\
x[n] ~ gaussian(mu[z[n]], exp(-s)) observed
z[n] ~ categorical(pi)
s = a + 1
a ~ gaussian(0, 1)
mu[k] ~ gaussian(0, 100)
pi ~ dirichlet(alpha)
const alpha in (0, oo)^K
plate k in K
plate n in N
""",
    "greek": """\
plate n in N
plate i in M
λ[i] ~ gamma(1, 1)
lambda ~ gamma(1, 1)
class ~ beta(1, 1)
beta[i] ~ gaussian(0, 1)
µ ~ gaussian(0, 1)
in ~ gaussian(0, 1)
plate ~ gaussian(0, 1)
observed ~ gaussian(0, 1)
x[n] ~ gaussian(μ + in + plate + observed + dot(beta[:], beta[:]) + loggamma(lambda),
    1/(class*sum(λ[:]))) observed
""",
    "nested": """\
plate a in A
plate b in B[a]
plate c in C[b]
m[a] ~ gaussian(0, 1)
y[a,b] ~ gaussian(m[a], 1)
w[a,b,c] ~ gaussian(y[a,b], 1) observed
""",
    "hierarchical labels": """\
plate n in N
plate g in G
const grp[n] in labels(G)
const top[g] in labels(H)
plate h in H
m[h] ~ gaussian(0, 10)
a[g] ~ gaussian(m[top[g]], 1)
x[n] ~ gaussian(a[grp[n]], 1) observed
y[n] ~ gaussian(m[top[grp[n]]], 1) observed
""",
    "ar2": """\
plate t in T
param a in R
param b in R
param v in (0, oo)
x[1] ~ gaussian(0, 1)
x[2] ~ gaussian(a*x[1], v)
x[t] ~ gaussian(a*x[t-1] + b*x[t-2], v)
y[t] ~ gaussian(x[t], 1) observed
""",
    "own element": """\
plate t in T
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1], 1)
x[7] ~ gaussian(5, 100)
y[t] ~ gaussian(x[t], 1) observed or missing
""",
    "literals alone": """\
plate n in N
plate k in 2
mu[1] ~ gaussian(-5, 1)
mu[2] ~ gaussian(5, 1)
pi ~ dirichlet(ones(2))
z[n] ~ categorical(pi)
x[n] ~ gaussian(mu[z[n]], 1) observed
""",
    "switching": """\
plate t in T
plate k in K
param A[k] in R^(d,d)
param P in R^(K,K)
s[1] ~ categorical(ones(K)/K)
s[t] ~ categorical(exp(P[s[t-1],:])/sum(exp(P[s[t-1],:])))
x[1] ~ gaussian-full(zeros(d), eye(d))
x[t] ~ gaussian-full(A[s[t]]*x[t-1], eye(d))
y[t] ~ gaussian-full(x[t], 2*eye(d)) observed
""",
    "label noise": """\
plate n in N
p ~ beta(1, 1)
q ~ beta(1, 1)
z[n] ~ bernoulli(p*q + (1 - p)*(1 - q)) observed
""",
    "gp component": """\
plate n in N
const Kinv in SPD(N)
f ~ gaussian-full(zeros(N), Kinv)
x[n] ~ gaussian(f[n], 1) observed
""",
    "choose three": """\
plate n in N
const alpha in (0, oo)^3
w ~ dirichlet(alpha)
r ~ gamma(1, 1)
z[n] ~ categorical(w)
x[n] ~ choose(z[n], poisson(r), geometric(0.5), point(0)) observed
""",
    "choose continuous": """\
plate n in N
w ~ dirichlet(ones(2))
z[n] ~ categorical(w)
m ~ gaussian(0, 1)
x[n] ~ choose(z[n], gaussian(m, 1), laplace(b = 2, c = m)) observed
""",
    "natural": """\
plate n in N
const x[n] in R^p
w ~ gaussian-full(zeros(p), eye(p))
y[n] ~ bernoulli(eta = dot(w, x[n])) observed
""",
    "softmax natural": """\
plate n in N
const x[n] in R^p
param W in R^(K,p)
y[n] ~ categorical(eta = head(W*x[n])) observed
""",
    "mf": """\
plate u in U
plate i in I
U1[u] ~ gaussian-full(zeros(q), eye(q))
V1[i] ~ gaussian-full(zeros(q), eye(q))
tau ~ gamma(1, 1)
r[u,i] ~ gaussian(dot(U1[u], V1[i]), 1/tau) observed or missing
""",
    "pf": """\
plate n in N
plate k in K
theta ~ gamma(1, 1)
b[k] ~ gamma(1, 1)
x[n] ~ poisson(theta*sum(b[:])) observed
""",
    "volatility": """\
plate t in T
h[1] ~ gaussian(0, 1)
h[t] ~ gaussian(0.9*h[t-1], 0.1)
y[t] ~ gaussian(0, exp(h[t])) observed
""",
    "deterministic chain": """\
plate t in T
const u[t] in R
param a in (0, 1)
s[1] = u[1]
s[t] = a*s[t-1] + (1 - a)*u[t]
y[t] ~ gaussian(s[t], 1) observed
""",
    "two chains": """\
plate t in T
l[1] ~ gaussian(0, 1)
b[1] ~ gaussian(l[1], 1)
l[t] ~ gaussian(b[t-1], 1)
b[t] ~ gaussian(l[t], 1)
y[t] ~ gaussian(l[t], 1) observed
""",
    "poisson multinomial aux": """\
plate n in N
theta ~ dirichlet(ones(K))
b ~ dirichlet(ones(K))
const y[n] in integers >= 1
s[n] ~ multinomial(theta*b/dot(theta, b), y[n]) observed
""",
    "continued": """\
plate n in N   # comment ( with bracket
x[n] ~ gaussian(  # mean
   0,   # zero

   1
) observed
""",
    "mixture of regressions": """\
plate n in N
plate k in K
const X[n] in R^p
param W[k] in R^p
param s[k] in (0, oo)
pi ~ dirichlet(ones(K))
z[n] ~ categorical(pi)
y[n] ~ gaussian(dot(W[z[n]], X[n]), s[z[n]]) observed
""",
    "fixed plates": """\
plate n in 10
plate k in 3
pi ~ dirichlet(ones(3)/3)
z[n] ~ categorical(pi)
m[k] ~ gaussian(0, 10)
x[n] ~ gaussian(m[z[n]], 1) observed
""",
    "observed twice": """\
plate n in N
z[n] ~ bernoulli(0.3) observed
mu ~ gaussian(0, 1)
x[n] ~ gaussian(mu*z[n], 1) observed
""",
    "keywords on lines of their own": """\
plate n in N
z[n] ~ bernoulli(
p = 0.5
)
x[n] ~ choose(z[n],
  poisson(
    rate = 2
  ),
point(0)) observed
""",
    "many labels": """\
plate n in N
plate k in K
plate g in G
const grp[n] in labels(G)
mu[k,g] ~ gaussian(0, 1)
pi[g] ~ dirichlet(ones(K))
z[n] ~ categorical(pi[grp[n]])
x[n] ~ gaussian(mu[z[n],grp[n]], 1) observed
""",
    "level and seasons": """\
plate t in T
level[1] ~ gaussian(0, 1)
level[t] ~ gaussian(level[t-1], vl)
seas[1] ~ gaussian(0, 1)
seas[2] ~ gaussian(0, 1)
seas[3] ~ gaussian(0, 1)
seas[t] ~ gaussian(-seas[t-1] - seas[t-2] - seas[t-3], vs)
param vl in (0, oo)
param vs in (0, oo)
y[t] ~ gaussian(level[t] + seas[t], 1) observed or missing
""",
    "lag two of a label": """\
plate t in T
plate k in K
plate j in K
P[k,j] ~ dirichlet(ones(K))
pi ~ dirichlet(ones(K))
z[1] ~ categorical(pi)
z[2] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1],z[t-2]])
m[k] ~ gaussian(0, 1)
x[t] ~ gaussian(m[z[t]], 1) observed
""",
    "read off": """\
plate n in N
a ~ gaussian(0, 1)
b ~ gaussian(0, 1)
d = a - b
x[n] ~ gaussian(a, 1) observed
y[n] ~ gaussian(b, 1) observed
""",
    "regression of a matrix": """\
const X in R^(N,p)
B ~ matrix-normal(zeros(p, q), eye(q), eye(p))
Z ~ matrix-normal(X*B, eye(q), eye(N)) observed
""",
}
