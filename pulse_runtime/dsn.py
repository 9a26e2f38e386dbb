"""Connection strings as text: made readable for libpq, and made fit to be printed. Nothing here connects."""

import re

# What may be shown. A list of what to hide would miss `pasword=`; whatever is not here is hidden.
# fmt: off
_SHOWN = frozenset((
    "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "servicefile", "application_name",
    "fallback_application_name", "connect_timeout", "client_encoding", "options", "sslmode", "sslnegotiation",
    "sslcompression", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "sslcertmode",
    "ssl_min_protocol_version", "ssl_max_protocol_version", "requiressl", "require_auth", "channel_binding",
    "requirepeer", "gssencmode", "krbsrvname", "gsslib", "gssdelegation", "keepalives", "keepalives_idle",
    "keepalives_interval", "keepalives_count", "tcp_user_timeout", "target_session_attrs", "load_balance_hosts",
    "replication",
))
# fmt: on
_HIDDEN = "***"
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_PAIR = re.compile(r"\s*(\w+)\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|[^\s'\\])(?:\\.|[^\s\\])*|)(?=\s|$)", re.DOTALL)
_HOSTS = re.compile(r"(?:\[[^\]@]*\]|[^:,@\[\]]*)(?::[0-9]*)?(?:,(?:\[[^\]@]*\]|[^:,@\[\]]*)(?::[0-9]*)?)*")


def for_libpq(dsn: str) -> str:
    """The same place as libpq writes it: `postgres://` and SQLAlchemy's `postgresql+driver://` are understood.

    Raises ValueError, without the DSN in it, for another database's URL and for what is no DSN at all.
    """
    scheme = _SCHEME.match(dsn)
    if not scheme:
        if not _PAIR.match(dsn):
            raise ValueError("it is neither a URL (postgresql://…) nor a keyword string (host=… dbname=…)")
        return dsn
    if scheme[1].lower().partition("+")[0] not in {"postgres", "postgresql"}:
        raise ValueError(f"it is a {scheme[1]} URL, and Pulse needs Postgres (postgresql://…)")
    return f"postgresql://{dsn[scheme.end() :].rstrip()}"


def redacted(dsn: str) -> str:
    """`dsn` without its secrets, to be printed. What cannot be understood is hidden, as it may be a password."""
    if scheme := _SCHEME.match(dsn):
        return f"{scheme[0].strip()}{_redacted_rest(dsn[scheme.end() :])}"
    return _redacted_pairs(dsn)


def _shown(key: str, value: str) -> str:
    # libpq reads `host= password=x` as a host of that name.
    return value if key == "passfile" or (key in _SHOWN and "password" not in value.lower()) else _HIDDEN


def _redacted_pairs(text: str) -> str:
    words: list[str] = []
    at = 0
    while text[at:].strip():
        pair = _PAIR.match(text, at)
        if not pair:
            # For example the second word of a password with a blank that nobody quoted.
            return " ".join([*words, _HIDDEN])
        words.append(f"{pair[1]}={_shown(pair[1], pair[2])}")
        at = pair.end()
    return " ".join(words)


def _redacted_rest(rest: str) -> str:
    place, mark, query = rest.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")] if mark else []
    if "@" in query and ("@" not in place or not all(key in _SHOWN for key, _, _ in pairs)):
        place, mark, pairs = rest, "", []  # the `?` is part of a password that nobody escaped
    shown = [f"{key}={_shown(key, value)}" if equals else _HIDDEN for key, equals, value in pairs]
    return _redacted_place(place) + mark + "&".join(shown)


def _redacted_place(place: str) -> str:
    # The last @, not the first as libpq has it: a password may hold one that nobody escaped.
    who, at, where = place.rpartition("@")
    user, colon, _ = who.partition(":")
    hosts, slash, database = where.partition("/")
    if not _HOSTS.fullmatch(hosts):
        return f"{user}{at}{_HIDDEN}"
    return f"{user}{f':{_HIDDEN}' if colon else ''}{at}{hosts}{slash}{database}"
