"""A question and its history to a cited answer, over the command line, REST and the page.

In: questions, settings. Out: `Answer`. Not known here: how answers are judged.
"""

from app import offline as offline
