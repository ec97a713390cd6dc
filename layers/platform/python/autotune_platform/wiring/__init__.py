"""The composition root: what each process is put together from.

A class declares the parts that one kind of function needs, and is given its environment.
Each part is made once, when it is first asked for. The classes are small, so that what their
modules import at the top is what the function uses: Lambda gives a whole processor to a function
that starts, and a part of one to a function that runs.
"""
