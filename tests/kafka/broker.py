"""A real Kafka for tests: one broker in KRaft mode on this machine, that can be killed and started again.

Its jars come from Maven Central by the Ivy that PySpark ships, as those of HBase do, each held against `jars.txt`.
"""

import base64
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from neomodel.cluster import jars
from neomodel.cluster.java import find_java

HERE = Path(__file__).parent
SECONDS = 90
_HEAP = ["-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


class Broker:
    """Started by `start`; `kill` ends it without a word."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._java = find_java()
        found = jars.fetch(
            self._java, jars.pinned(HERE / "jars.txt"), jars.cache_folder().parent / "kafka", lambda _: None
        )
        self._class_path = ":".join(map(str, found))
        self._process: subprocess.Popen[bytes] | None = None
        port, controller = _free_port(), _free_port()
        self.address = f"127.0.0.1:{port}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(folder / "logs"),
            "offsets.topic.replication.factor": "1",
            "auto.create.topics.enable": "false",
            "message.max.bytes": "2000000",
        }
        self._settings = folder / "server.properties"
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._run("kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(self._settings))

    def start(self) -> "Broker":
        """Returns when it answers."""
        with (self._folder / "broker.log").open("ab") as log:
            command = [self._java, *_HEAP, "-cp", self._class_path, "kafka.Kafka", str(self._settings)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        deadline = time.monotonic() + SECONDS
        while True:
            assert self._process.poll() is None, (self._folder / "broker.log").read_text()[-2000:]
            try:
                admin.list_topics(timeout=2)
            except KafkaException:  # it does not answer yet
                assert time.monotonic() < deadline, (self._folder / "broker.log").read_text()[-2000:]
            else:
                return self

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def create(self, topic: str, partitions: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        for done in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            done.result(SECONDS)

    def produce(self, topic: str, messages: list[tuple[bytes | None, bytes | None]]) -> None:
        """Returns when all are acknowledged."""
        failed: list[object] = []
        producer = Producer({"bootstrap.servers": self.address, "acks": "all", "linger.ms": 5, "log_level": 0})
        for key, value in messages:
            producer.produce(topic, value, key, on_delivery=lambda error, _: failed.append(error) if error else None)
            producer.poll(0)
        assert producer.flush(SECONDS) == 0
        assert failed == []

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            [self._java, *_HEAP, "-cp", self._class_path, *command], capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stderr


def _cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
