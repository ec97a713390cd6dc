"""The composition root: what each process is put together from, lazily, each part once.

One class for each model of the environment, which it is given: it has the parts that this
environment suffices for. A part is made, and its module imported, when it is first asked for.
"""
