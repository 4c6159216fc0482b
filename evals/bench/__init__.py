"""How fast, how large, how exact in which precision: measurements of the machine that they run on.

In: a folder of data and one to work in. Out: tables for docs/bench.md.
Nothing here is asserted; a figure says what was seen on one machine on one day.
"""
