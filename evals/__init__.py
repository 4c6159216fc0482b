"""How good the answers are: a set of questions with known papers to a report, compared with a baseline.

In: cases, something that answers them. Out: measures with their reasons, as JSON and Markdown.
Not known here: how an answer is found, written or shown.
"""
