"""Models: a text with plates → a `Model`, or every mistake in it with its place.

| module | what it does |
|---|---|
| `values` | A model that has been read: frozen values, every name resolved, every shape known |
"""
