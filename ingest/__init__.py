"""From files to the next index.

In: files or addresses of papers. Out: clean, merged papers, cut into sentences and chunks, embedded, and the index
switched to them. Not known here: questions, chat, how answers are judged.
"""
