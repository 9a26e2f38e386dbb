"""Every place in the tree: finding them, and who has a wire to whom."""

from collections import Counter
from collections.abc import Sequence

from pulse_supervisor.control import Peer
from pulse_supervisor.post import Post
from pulse_supervisor.spec import Child, Link


class Roster:
    """The table of children as places. Refuses a table that contradicts itself (ValueError)."""

    def __init__(self, children: Sequence[Child], links: Sequence[Link]) -> None:
        _check(children, links)
        self.kinds = [spec.kind for spec in children]
        self.posts = [Post(spec, number) for spec in children for number in range(1, spec.count + 1)]
        self._links = tuple(links)

    def find(self, peer: Peer) -> Post | None:
        """Whoever holds that place, or held it."""
        return next((post for post in self.posts if post.peer == peer), None)

    def of_pid(self, pid: int) -> Post | None:
        """None: a stranger."""
        return next((post for post in self.posts if post.pid == pid), None)

    def of_kind(self, kind: str) -> list[Post]:
        """All of them, by number."""
        return [post for post in self.posts if post.spec.kind == kind]

    def living(self) -> list[Post]:
        """Places that somebody holds."""
        return [post for post in self.posts if post.pid]

    def linked(self, post: Post) -> list[Post]:
        """Living places that have a wire to this one."""
        kinds = {link.other for link in self._links if link.one == post.spec.kind}
        kinds |= {link.one for link in self._links if link.other == post.spec.kind}
        return [other for other in self.living() if other.spec.kind in kinds and other is not post]

    def lost(self, kind: str) -> bool:
        """Nobody of that kind lives or will."""
        return not any(post.pid or post.due is not None for post in self.of_kind(kind))


def _check(children: Sequence[Child], links: Sequence[Link]) -> None:
    counts = {spec.kind: spec.count for spec in children}
    twice = [kind for kind, times in Counter(spec.kind for spec in children).items() if times > 1]
    if twice:
        raise ValueError(f"twice in the table: {', '.join(twice)}")
    for link in links:
        for kind in (link.one, link.other):
            if kind not in counts:
                raise ValueError(f"{link} names {kind!r}, which is not in the table")
    for spec in children:
        for kind in spec.mourners:
            if counts.get(kind) != 1:
                raise ValueError(f"{kind!r} cannot be told of the death of {spec.kind!r}: there must be one of it")
