"""The fault proxy reads the protocol: messages are found however they are cut, and replies find their statement."""

import itertools

from faults.conversation import Conversation, Turn
from faults.frames import SSL_REQUEST, Frame, Frames
from faults.traps import COMMIT, Trap
from hypothesis import given
from hypothesis import strategies as st


def message(letter: bytes, body: bytes = b"") -> Frame:
    return Frame(letter, letter + (len(body) + 4).to_bytes(4, "big") + body)


def opening(code: int, body: bytes = b"") -> Frame:
    return message(b"", code.to_bytes(4, "big") + body)


READY = message(b"Z", b"I")
bodies = st.binary(max_size=40)
messages = st.builds(message, st.sampled_from([b"Q", b"P", b"S", b"d"]), bodies)
clients = st.tuples(
    st.lists(st.just(opening(SSL_REQUEST)), max_size=2), st.builds(opening, st.just(196608), bodies), st.lists(messages)
)


@given(clients, st.lists(st.integers(0, 400)), bodies)
def test_messages_are_found_however_they_are_cut(
    said: tuple[list[Frame], Frame, list[Frame]], cuts: list[int], rest: bytes
) -> None:
    sent = [*said[0], said[1], *said[2]]
    unfinished = message(b"d", rest).raw[:-1]
    data = b"".join(frame.raw for frame in sent) + unfinished
    frames = Frames(opening=True)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    found = [frame for start, end in itertools.pairwise(edges) for frame in frames.feed(data[start:end])]
    assert found == sent
    assert frames.rest == unfinished


def ask(conversation: Conversation, *frames: Frame) -> list[tuple[str, Turn]]:
    return [each for frame in frames for each in conversation.asked(frame)]


def logged_in() -> Conversation:
    conversation = Conversation()
    assert conversation.answered(READY) is not None
    return conversation


def test_replies_to_statements_that_were_sent_ahead_go_to_the_oldest() -> None:
    conversation = logged_in()
    (_, first), (_, second) = ask(conversation, message(b"Q", b"select 1\0"), message(b"Q", b"select 2\0"))
    assert conversation.answered(READY) is first
    assert conversation.answered(message(b"E")) is second
    assert (first.failed, second.failed) == (False, True)


def test_a_portal_is_known_by_the_statement_it_was_bound_to() -> None:
    conversation = logged_in()
    ask(conversation, message(b"P", b"s1\0select 1\0\0\0"), message(b"P", b"\0select 2\0\0\0"))
    ask(conversation, message(b"B", b"p\0s1\0"), message(b"B", b"\0\0"))
    ((statement, turn),) = ask(conversation, message(b"E", b"p\0\0\0\0\0"), message(b"S"))
    assert statement == "select 1"
    assert conversation.answered(READY) is turn


def test_what_a_server_says_unasked_belongs_to_no_turn() -> None:
    conversation = logged_in()
    ask(conversation, message(b"Q", b"select 1\0"))
    assert [conversation.answered(message(letter)) for letter in (b"A", b"N", b"S")] == [None] * 3


def test_a_commit_is_known_by_its_word_and_not_by_its_letters() -> None:
    trap = Trap(COMMIT)
    assert all(map(trap.matches, ["COMMIT", "commit;", " Commit and chain", "select 1; commit", "END", "end;"]))
    assert not any(map(trap.matches, ["select 'x commit'", "committed()", "do $$ begin end $$", "savepoint commit"]))
