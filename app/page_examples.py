"""Example questions for the corpus that is loaded, each tried before it is shown.

In: an assistant. Out: questions that it answers, from its papers' names and topics; the same ones for one corpus.
Not known here: how they are shown.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from app.answer import Answer
from app.assistant import Assistant
from vectorstore.names import coined_name
from vectorstore.paper import Paper

_ABOUT_A_PAPER = ("What is {}?", "How does {} work?", "What results does {} achieve?")
_ABOUT_A_TOPIC = "Which papers are about {}?"
_SAMPLE = 30  # papers looked at
_TRIES = 6  # questions tried for each kind of example
_NAME = re.compile(r"(?=.{3,40}$)[A-Za-z][\w+-]*(?: [\w+-]+){0,3}")
_PLURAL = re.compile(r"[A-Z]s$|ers$")  # "What is MSWTs?"
_VAGUE = re.compile(r"(?i)\b(?:else|other|general|misc\w*|algorithms|applications)\b")


def find_examples(assistant: Assistant) -> tuple[str, ...]:
    """Up to four questions, none for a corpus from which none can be made."""
    everything = [paper for paper in assistant.papers() if paper.abstract]
    papers = random.Random(assistant.corpus).sample(everything, min(_SAMPLE, len(everything)))
    named = [(paper, name) for paper in papers if (name := _name(paper))]
    named.sort(key=lambda each: each[1].isupper())  # "QuantumBoost" says more to a newcomer than "SEI"
    found = []
    for form in _ABOUT_A_PAPER:
        for paper, name in named[:_TRIES]:
            if _is_about(paper, assistant.ask(question := form.format(name))):
                found.append(question)
                named.remove((paper, name))
                break
    for topic in list(_topics(everything))[:_TRIES]:
        answer = assistant.ask(question := _ABOUT_A_TOPIC.format(topic))
        if answer.status == "answered" and len(answer.papers) > 1:
            found.insert(1, question)
            break
    return tuple(found)


def _is_about(paper: Paper, answer: Answer) -> bool:
    return answer.status == "answered" and [cited.id for cited in answer.papers] == [paper.id]


def _name(paper: Paper) -> str:
    """The name the paper gives its method, "" when it has none that can be put in a question."""
    before_colon = paper.title.split(":")[0].strip() if ":" in paper.title else ""
    for name in ("" if " " in before_colon else before_colon, coined_name(paper.abstract)):
        if _NAME.fullmatch(name) and any(letter.isupper() for letter in name[1:]) and not _PLURAL.search(name):
            return name
    return ""


def _topics(papers: Sequence[Paper]) -> Iterator[str]:
    """What several papers are filed under, the commonest first, in the words of a question."""
    counted = Counter(paper.topic.split("->")[-1].strip() for paper in papers)
    for topic, count in counted.most_common():
        if count > 1 and topic and not _VAGUE.search(topic) and len(topic) < 50:
            yield " ".join(word.lower() if word.istitle() else word for word in topic.split())
