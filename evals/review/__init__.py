"""From what people said of answers to cases of a set, one by one, by a person's decision.

In: the feedback file of a server. Out: cases for a person to look at.
Nothing is decided here: what is right, what is personal and what is kept is asked.
"""
