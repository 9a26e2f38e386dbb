"""What the supervisor waits for: signals, words of children, ends of children."""

import math
import select
from collections.abc import Iterable

from pulse_supervisor.post import Post
from pulse_supervisor.signals import Signals
from pulse_supervisor.wire import Wire


def wait(posts: Iterable[Post], signals: Signals, timeout_s: float | None) -> list[Post]:
    """Until something happens: who has something to say. Writes what is left to write.

    The list is made anew each time, so that nothing in it can be stale: dozens of descriptors, a few turns a second.
    """
    waiting = select.poll()
    waiting.register(signals, select.POLLIN)
    controls: dict[int, tuple[Post, Wire]] = {}
    for post in posts:
        if post.pidfd >= 0:
            waiting.register(post.pidfd, select.POLLIN)
        if post.control is not None and post.control.ended is None:
            controls[post.control.fileno()] = post, post.control
            waiting.register(post.control, select.POLLIN | (select.POLLOUT if post.control.wants_to_write else 0))
    happened = waiting.poll(None if timeout_s is None else math.ceil(timeout_s * 1000))
    speaking = []
    for fd, mask in happened:
        if fd in controls:
            post, wire = controls[fd]
            if mask & select.POLLOUT:
                wire.flush()
            speaking.append(post)
    return speaking
