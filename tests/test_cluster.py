"""The local HBase: it starts, really answers, survives being killed, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import happybase
import pytest

from neomodel import cluster
from neomodel.cluster import Cluster
from neomodel.cluster.plan import Plan
from neomodel.errors import ClusterFailed, InvalidValue
from tests.cluster_fixture import running

ROWS = {b"row%03d" % n: {b"p:n": b"%d" % n} for n in range(200)}


def connect(it: Cluster, gateway: int = 1) -> closing[happybase.Connection]:
    return closing(happybase.Connection("127.0.0.1", it.plan.gateway(gateway)["thrift1"], timeout=120_000))


def fill(it: Cluster, table: str) -> None:
    with connect(it) as connection:
        connection.create_table(table, {"p": {}})
        for key, row in ROWS.items():
            connection.table(table).put(key, row)


def read(it: Cluster, table: str, gateway: int = 1) -> dict[bytes, dict[bytes, bytes]]:
    with connect(it, gateway) as connection:
        return dict(connection.table(table).scan())


def pids(it: Cluster) -> dict[str, int | None]:
    return {process.name: process.pid for process in cluster.status(it.folder)}


def gone(pid: int) -> bool:
    try:
        return "zombie" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


def listening(pid: int) -> set[str]:
    """The addresses, as the kernel writes them, on which a process waits for connections."""
    inodes = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(file).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1].partition(":")[0])
    return found


def test_one_server_keeps_what_was_acknowledged_when_all_is_killed_and_leaves_nothing_behind(tmp_path):
    first = cluster.up(tmp_path, servers=1)
    try:
        fill(first, "kept")
        before = pids(first)
        for pid in before.values():
            os.kill(pid, signal.SIGKILL)

        second = cluster.up(tmp_path)

        assert read(second, "kept") == ROWS
        assert second.url == first.url == cluster.url(tmp_path)
        after = pids(second)
        assert not set(before.values()) & set(after.values())
    finally:
        stopped = cluster.down(tmp_path)
    assert stopped == ["server1", "gateway1"]
    assert all(map(gone, after.values()))
    assert not any(process.alive for process in cluster.status(tmp_path))


def test_a_second_up_leaves_everything_running(hbase):
    before = pids(hbase)

    cluster.up(hbase.folder)

    assert pids(hbase) == before


def test_what_runs_is_not_started_in_another_form(hbase):
    with pytest.raises(ClusterFailed, match="it runs already, with 1 servers on ports from"):
        cluster.up(hbase.folder, servers=3)
    with pytest.raises(ClusterFailed, match=r"it runs already, .* without TLS"):
        cluster.up(hbase.folder, tls=True)


def test_nothing_but_loopback_is_listened_on(hbase):
    assert [listening(pid) for pid in pids(hbase).values()] == [{"0100007F"}] * 2


def test_nothing_but_loopback_is_listened_on_with_tls(hbase_tls):
    assert [listening(pid) for pid in pids(hbase_tls).values()] == [{"0100007F"}] * 2


def test_nothing_but_loopback_is_listened_on_by_many(hbase3):
    assert [listening(pid) for pid in pids(hbase3).values()] == [{"0100007F"}] * 7


def test_a_killed_gateway_is_seen_and_comes_back_on_its_port(hbase):
    hbase.kill("gateway1")
    assert [process.name for process in cluster.status(hbase.folder) if not process.alive] == ["gateway1"]
    with pytest.raises(ClusterFailed, match="does not run"):
        cluster.url(hbase.folder)

    hbase.restart("gateway1")

    with connect(hbase) as connection:
        connection.tables()


def test_a_command_that_hbase_refuses_gives_its_reason(hbase):
    with pytest.raises(ClusterFailed, match=r"TableNotFoundException"):
        hbase.flush("nowhere")


def test_a_process_that_does_not_exist_is_refused(hbase):
    with pytest.raises(InvalidValue, match="one of server1, gateway1"):
        hbase.kill("server2")


def test_regions_follow_a_split_a_move_and_a_death_and_nothing_is_lost(hbase3):
    fill(hbase3, "followed")
    hbase3.split("followed", b"row100")
    low, high = hbase3.regions("followed")
    assert (low.start, low.stop, high.start, high.stop) == (b"", b"row100", b"row100", b"")

    meta = hbase3.meta_server()
    victim, other = [name for name in hbase3.servers if name != meta]
    hbase3.move(low, victim)
    hbase3.move(high, other)
    assert [region.server for region in hbase3.regions("followed")] == [hbase3.address(victim), hbase3.address(other)]

    hbase3.flush("followed")
    hbase3.compact("followed")
    hbase3.kill(victim)
    started = time.monotonic()
    assert read(hbase3, "followed", gateway=2) == ROWS
    assert time.monotonic() - started < 60
    holders = [region.server for region in hbase3.regions("followed")]
    assert hbase3.address(victim) not in holders
    assert holders[1] == hbase3.address(other)

    hbase3.restart(victim)
    hbase3.move(hbase3.regions("followed")[0], victim)
    assert read(hbase3, "followed", gateway=3) == ROWS


def test_other_gateways_work_while_one_is_dead(hbase3):
    fill(hbase3, "others")
    hbase3.kill("gateway2")

    assert read(hbase3, "others", gateway=1) == read(hbase3, "others", gateway=3) == ROWS

    hbase3.restart("gateway2")
    assert read(hbase3, "others", gateway=2) == ROWS


@pytest.mark.soak
def test_the_server_of_hbase_meta_is_replaced(hbase3):
    fill(hbase3, "meta")
    victim = hbase3.meta_server()
    hbase3.kill(victim)

    assert read(hbase3, "meta", gateway=3) == ROWS

    assert hbase3.meta_server() not in (victim, None)
    hbase3.restart(victim)


@pytest.mark.soak
def test_three_servers_keep_what_was_acknowledged_when_all_is_killed(tmp_path):
    for it in running(tmp_path, 3):
        fill(it, "kept")
        for name in pids(it):
            it.kill(name)

        assert read(cluster.up(tmp_path), "kept") == ROWS
        with pytest.raises(ClusterFailed, match="stop it first"):
            cluster.up(tmp_path, servers=4)


def test_what_does_not_start_is_told_with_its_reason_and_its_log_and_is_stopped_again(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "zookeeper").write_text("a file where ZooKeeper wants a folder")

    with pytest.raises(ClusterFailed, match=r"server1 ended: zookeeper.*: .*its log is .*/logs/server1\.log"):
        cluster.up(tmp_path)

    assert not any(process.alive for process in cluster.status(tmp_path))


def test_a_process_that_got_the_id_of_a_dead_one_is_left_alone(tmp_path):
    Plan(1, 12345).save(tmp_path)
    (tmp_path / "run").mkdir()
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        (tmp_path / "run" / "server1.pid").write_text(f"{stranger.pid} -Dneomodel.process=server1.0123456789abcdef\n")

        assert not any(process.alive for process in cluster.status(tmp_path))
        assert cluster.down(tmp_path) == []
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_folder_without_a_cluster_has_nothing_to_stop_or_tell(tmp_path):
    assert cluster.down(tmp_path) == []
    assert cluster.status(tmp_path) == []
    with pytest.raises(ClusterFailed, match="it does not run"):
        cluster.url(tmp_path)


def test_no_server_at_all_and_a_folder_that_hbase_cannot_name_are_refused(tmp_path):
    with pytest.raises(InvalidValue, match="servers is 0, expected 1 to 16"):
        cluster.up(tmp_path, servers=0)
    with pytest.raises(InvalidValue, match=r"folder is .*expected a path of ASCII letters"):
        cluster.up(tmp_path / "one,two")


def test_data_of_one_server_is_not_given_to_three(tmp_path):
    Plan(1, 12345).save(tmp_path)
    (tmp_path / "data" / "hbase").mkdir(parents=True)

    with pytest.raises(ClusterFailed, match="its data is that of 1 servers"):
        cluster.up(tmp_path, servers=3)
