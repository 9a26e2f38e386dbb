"""What tests of actors share."""

from pulse_supervisor import Died, Message, Peer

TOKEN = "01890a5d-ac96-774b-bcce-b302099a8057"


class Recorder:
    """An office that only writes down."""

    def __init__(self) -> None:
        self.peers: dict[Peer, int] = {}
        self.sent: list[tuple[Peer, Message]] = []
        self.killed: list[tuple[Peer, int, str]] = []
        self.mourned: list[Died] = []

    def send(self, peer: Peer, message: Message) -> None:
        self.sent.append((peer, message))

    def broadcast(self, kind: str, message: Message) -> None:
        self.sent.append((Peer(kind, 0), message))

    def kill(self, peer: Peer, incarnation: int, why: str) -> None:
        self.killed.append((peer, incarnation, why))

    def seen(self, death: Died) -> None:
        self.mourned.append(death)
