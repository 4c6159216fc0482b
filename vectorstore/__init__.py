"""The searchable index of a corpus of papers.

In: papers and vectors; later a query. Out: a checked index on disk; ranked `Evidence`.
Not known here: files and their formats, language models, pages, how answers are judged.
"""
