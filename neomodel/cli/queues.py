"""The queue that `--from` names: a folder, or a topic of Kafka."""

import hashlib
import re
from pathlib import Path
from typing import Any

import attrs

from neomodel.cli.frame import Refused

_HEAD = "kafka://"
_SERVER = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})", re.ASCII)
_TOPIC = re.compile(r"[\w.-]{1,249}", re.ASCII)  # as Kafka has them


@attrs.frozen
class Folder:
    """A folder of JSON Lines files."""

    path: Path

    def checkpoint(self, name: str) -> Path:
        """Where it is kept how far it is, unless somebody says where."""
        return self.path / name

    def frame(self, session: Any, log: Path, rate: int | None) -> Any:
        options = {"folder": str(self.path.absolute()), "log": str(log)}
        return _stream(session, "elsa-folder", options, rate)


@attrs.frozen
class Topic:
    """A topic of Kafka, by the servers that are asked first."""

    servers: str
    topic: str

    def checkpoint(self, name: str) -> Path:
        """In the folder where we are: a topic has no place for it."""
        return Path(f"{name}-{hashlib.sha256(f'{self.servers}/{self.topic}'.encode()).hexdigest()[:8]}")

    def frame(self, session: Any, log: Path, rate: int | None) -> Any:
        from spark.kafka_queue import KafkaSource
        from spark.session import know

        know(session, KafkaSource)
        options = {"bootstrap": self.servers, "topic": self.topic, "log": str(log)}
        return _stream(session, "elsa-kafka", options, rate)


def queue(given: str) -> Folder | Topic:
    """What is named, or `Refused`; that a folder is there, and the client of Kafka, is seen to."""
    if not given.startswith(_HEAD):
        if "://" in given:
            raise Refused(f"--from {given} is none; it names a folder, or a topic as kafka://HOST:PORT/TOPIC")
        if not Path(given).is_dir():
            raise Refused(
                f"{given} is no folder; --from names the folder that the queue is, or kafka://HOST:PORT/TOPIC"
            )
        return Folder(Path(given))
    servers, _, topic = given.removeprefix(_HEAD).partition("/")
    found = [_SERVER.fullmatch(server) for server in servers.split(",")]
    if not all(one and 0 < int(one[1]) < 2**16 for one in found):
        raise Refused(f"--from {given} names no server; it is kafka://HOST:PORT/TOPIC, several as HOST:PORT,HOST:PORT")
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise Refused(
            f"--from {given} names no topic; it is kafka://HOST:PORT/TOPIC, with letters, digits, '.', '_', '-'"
        )
    try:
        import spark.kafka_queue  # noqa: F401  it needs a package that may not be there
    except ModuleNotFoundError as exc:
        if exc.name != "confluent_kafka":
            raise
        raise Refused(f"--from {given} needs confluent-kafka; pip install 'neomodel-hbase[kafka]'") from exc
    return Topic(servers, topic)


def _stream(session: Any, form: str, options: dict[str, str], rate: int | None) -> Any:
    limit = {} if rate is None else {"messages": str(rate)}
    return session.readStream.format(form).options(**options, **limit).load()
