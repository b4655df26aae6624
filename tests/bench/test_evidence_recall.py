"""Measuring evidence recall: what counts as found, the plain rankers beside, and a run over made-up turns."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from bench.recall import conversations, plain, reports, scoring, tenure_ranker
from bench.recall.__main__ import measured
from bench.recall.conversations import Conversation, Question, Turn

from tenure.core.vectors import Vector


def answer(*ranked: str, evidence: frozenset[str], category: str = "one") -> scoring.Answer:
    """An answer of these turns, all of which fit into the budget."""
    return scoring.Answer(
        category=category, evidence=evidence, ranked=ranked, within_budget=frozenset(ranked)
    )


def test_recall_is_the_share_of_the_evidence_that_is_among_the_first() -> None:
    """Two turns of evidence, one of them in the first five places: a half."""
    given = answer("a", "b", "c", "d", "e", "x", evidence=frozenset({"b", "x"}))

    assert scoring.evidence_recall(given, 5) == 0.5
    assert scoring.evidence_recall(given, 10) == 1.0
    assert scoring.reciprocal_rank(given) == 0.5


def test_scores_are_means_by_category_and_over_all_questions() -> None:
    """A category of one question does not weigh as much as one of three."""
    found = answer("a", evidence=frozenset({"a"}))
    missed = answer("b", evidence=frozenset({"a"}), category="two")

    every, one, two = scoring.scores([found, found, found, missed])

    assert (every.category, every.questions, every.recall_at[5]) == (scoring.ALL, 4, 0.75)
    assert (one.recall_at[20], two.recall_at[20], two.reciprocal_rank) == (1.0, 0.0, 0.0)
    assert every.in_context is None


def test_a_text_that_does_not_fit_is_skipped_and_smaller_ones_behind_it_enter() -> None:
    """As a recall packs (SPEC R4)."""
    assert tenure_ranker.packed([1_500, 600, 400, 101, 100]) == [0, 2, 4]


def test_plain_words_rank_by_rare_shared_terms_and_leave_out_what_shares_none() -> None:
    """BM25: the rarer word decides; a text without any word of the question is no answer."""
    ranker = plain.PlainWords(["the blue boat", "a blue car", "a blue car", "rain", "blue boats and boats"])

    assert ranker.best("blue boat") == [4, 0, 1, 2]
    assert ranker.best("nothing of it") == []


def test_plain_vectors_rank_by_cosine() -> None:
    """The nearest first, all of them."""

    class Letters:
        """A vector that says which of two letters a text has."""

        model = "letters/1"
        is_immediate = True

        def passages(self, texts: Sequence[str]) -> list[Vector]:
            """One for each."""
            return [self.query(text) for text in texts]

        def query(self, text: str) -> Vector:
            """Of length 1."""
            found = np.array([text.count("a"), text.count("b")], dtype=np.float32)
            return np.asarray(found / np.sqrt(found @ found), dtype=np.float32)

    ranker = plain.PlainVectors(Letters(), ["ab", "b", "a"])

    assert ranker.best("aaab") == [2, 0, 1]


def test_made_up_conversations_are_always_the_same_and_their_answers_exist() -> None:
    """Every question names a turn, and shares a word with it."""
    told = conversations.made_up(3, conversations=2, turns=30, questions=5)

    assert told == conversations.made_up(3, conversations=2, turns=30, questions=5)
    for one in told:
        said = {turn.id: turn.text.lower() for turn in one.turns}
        assert len(one.questions) == 5
        for question in one.questions:
            text = said[question.evidence[0]]
            assert any(word.lower() in text for word in question.question.strip("?").split())


def test_files_of_conversations_are_read_as_they_are_written(tmp_path: Path) -> None:
    """More fields than are needed do no harm; a folder without any says what it should hold."""
    with pytest.raises(conversations.NoConversations, match="retrieval"):
        conversations.files(tmp_path)
    (tmp_path / "retrieval").mkdir()
    turn = {"id": "t1", "session": 1, "date": "May-3-2024", "speaker": "Ann", "text": "I moved."}
    question = {"id": "q", "question": "Moved?", "answer": "Yes", "category": "any", "evidence": ["t1"]}
    stored = [{"id": "talk", "lang": "en", "turns": [turn], "questions": [question]}]
    (tmp_path / "retrieval" / "talk.json.gz").write_bytes(gzip.compress(json.dumps(stored).encode()))

    found = conversations.files(tmp_path)

    assert list(found) == ["talk"]
    (one,) = conversations.read(found["talk"])
    assert (one.turns[0].content, one.questions[0].evidence) == ("Ann: I moved.", ["t1"])


def test_a_run_asks_every_ranker_and_counts_what_the_gate_held_back(tmp_path: Path) -> None:
    """A turn that is kept out is missed by a recall; the plain rankers know no gate."""
    told = conversations.made_up(3, conversations=1, turns=40, questions=8)[0]
    secret = Turn(
        id="secret", session=9, speaker="Ann", text="The password of the mail box is Kq7-hunter2-Zz."
    )
    asked = Question(question="What is the password of the mail box?", category="kept", evidence=["secret"])
    with_secret = Conversation(id=told.id, turns=[*told.turns, secret], questions=[*told.questions, asked])

    part = measured("made-up", [with_secret], ["none"], tmp_path)

    assert (part.turns, part.questions, sum(part.kept_out.values())) == (41, 9, 1)
    by_name = {ranker.name: {score.category: score for score in ranker.scores} for ranker in part.rankers}
    assert by_name["plain BM25"]["kept"].recall_at[5] == 1.0
    assert by_name["Tenure, none"]["kept"].recall_at[20] == 0.0
    assert by_name["Tenure, none"][conversations.MADE_UP].recall_at[10] > 0.5
    assert "reject: credential" in "\n".join(reports.shown(part))
