"""What the local HBase is made of: its jars, its Java, its ports. Nothing here needs a network or starts an HBase."""

import hashlib
import socket
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from xml.etree import ElementTree

import attrs
import pytest

from neomodel.cluster import certificate, jars, java, local, plan
from neomodel.cluster.jars import Jar
from neomodel.cluster.plan import Plan, make_plan
from neomodel.errors import ClusterFailed, InvalidValue

JARS = {"one-1.jar": b"first", "two-1.jar": b"second"}
PINS = [Jar(hashlib.sha256(JARS[f"{name}-1.jar"]).hexdigest(), "org", name, "1") for name in ("one", "two")]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A Maven-like repository on disk, named to Ivy as a site's mirror would be; returns where the jars lie in it."""
    repository = tmp_path / "site"
    repository.mkdir()
    for name, content in JARS.items():
        (repository / name).write_bytes(content)
    settings = tmp_path / "settings.xml"
    settings.write_text(
        f'<ivysettings><settings defaultResolver="site"/><resolvers><filesystem name="site">'
        f'<artifact pattern="{repository}/[artifact]-[revision].[ext]"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("NEOMODEL_IVY_SETTINGS", str(settings))
    return repository


def contents(paths: list[Path]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}


def test_jars_are_loaded_once_with_a_word_on_it(tmp_path, site):
    told = []

    loaded = jars.fetch(java.find_java(), PINS, tmp_path / "cache", told.append)
    again = jars.fetch("no java is needed", PINS, tmp_path / "cache", told.append)

    assert contents(loaded) == contents(again) == JARS
    assert told[0] == "loading HBase from Maven Central: 0 of 2 jars"
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["jars", "lock"]


def test_a_damaged_jar_is_loaded_again_and_a_sound_one_is_not_touched(tmp_path, site):
    one, two = jars.fetch(java.find_java(), PINS, tmp_path / "cache", print)
    one.write_bytes(b"fjrst")
    inode = two.stat().st_ino

    jars.fetch(java.find_java(), PINS, tmp_path / "cache", print)

    assert contents([one, two]) == JARS
    assert two.stat().st_ino == inode


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path, site):
    (site / "two-1.jar").write_bytes(b"something else")

    with pytest.raises(ClusterFailed, match=r": two-1\.jar differ from the pinned checksum"):
        jars.fetch(java.find_java(), PINS, tmp_path / "cache", print)

    assert list((tmp_path / "cache" / "jars").iterdir()) == []


def test_a_jar_that_cannot_be_had_is_told_in_one_sentence(tmp_path, site):
    (site / "two-1.jar").unlink()

    with pytest.raises(ClusterFailed, match=r"cannot load the jars .*not found: org#two;1.*; see that the network"):
        jars.fetch(java.find_java(), PINS, tmp_path / "cache", print)


def test_two_processes_that_load_at_once_both_get_all(tmp_path, site):
    pins = [attrs.astuple(pin) for pin in PINS]
    program = (
        "from pathlib import Path; from neomodel.cluster import jars, java; "
        f"jars.fetch(java.find_java(), [jars.Jar(*pin) for pin in {pins}], Path({str(tmp_path / 'cache')!r}), print)"
    )
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL) for _ in range(2)]

    assert [process.wait(60) for process in both] == [0, 0]

    assert contents(list((tmp_path / "cache" / "jars").iterdir())) == JARS


def test_who_has_waited_for_another_to_load_them_loads_nothing(tmp_path, monkeypatch):
    def meanwhile(file, waiting):
        waiting()
        for name, content in JARS.items():
            (tmp_path / "cache" / "jars" / name).write_bytes(content)
        return nullcontext()

    monkeypatch.setattr(jars, "locked", meanwhile)

    assert contents(jars.fetch("no java is needed", PINS, tmp_path / "cache", print)) == JARS


def test_ivy_is_asked_for_each_variant_of_a_jar_and_for_nothing_that_comes_with_it(tmp_path):
    variants = [Jar("0" * 64, "org", "native", "1", classifier) for classifier in ("", "linux", "osx")]

    jars.write_module(tmp_path / "ivy.xml", variants)

    (dependency,) = ElementTree.parse(tmp_path / "ivy.xml").iter("dependency")
    assert dependency.get("transitive") == "false"
    wanted = [artifact.get("{http://ant.apache.org/ivy/maven}classifier") for artifact in dependency]
    assert wanted == [None, "linux", "osx"]
    assert [jar.file for jar in variants] == ["native-1.jar", "native-1-linux.jar", "native-1-osx.jar"]


def test_the_pinned_jars_are_those_of_one_hbase():
    names = [jar.file for jar in jars.pinned()]

    assert {"hbase-server-2.6.1-hadoop3.jar", "hbase-thrift-2.6.1.jar", "hadoop-hdfs-3.3.5.jar"} < set(names)
    assert len(names) == len(set(names)) == 193
    assert all(len(jar.sha256) == 64 for jar in jars.pinned())


def fake_java(folder: Path, version: str) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    (folder / "bin" / "java").chmod(0o755)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "24"])
def test_a_java_that_hbase_does_not_run_on_is_refused_with_what_to_install(tmp_path, monkeypatch, version):
    fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(ClusterFailed, match=r"its version is (8|11|24); install a JDK of version 17 to 22"):
        java.find_java()


def test_a_missing_java_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ClusterFailed, match="cannot find Java: there is no java in the folders of PATH; install a JDK"):
        java.find_java()


def test_the_url_names_each_pair_and_the_server_beside_it():
    url = "hbase://127.0.0.1:9000,127.0.0.1:9002?thrift2=9001,9003&servers=127.0.0.1:9004,127.0.0.1:9005"

    assert Plan(2, 9000).url(Path("x")) == url


def test_a_plan_is_kept_in_the_folder(tmp_path):
    Plan(3, 9000).save(tmp_path)

    assert plan.load(tmp_path) == Plan(3, 9000)


def test_ports_stay_the_same_as_long_as_they_are_free(monkeypatch):
    monkeypatch.setattr(plan, "RELEASE", 0.2)
    first = make_plan(1, None, None)
    assert make_plan(1, None, first) == first

    with socket.create_server(("127.0.0.1", first.ports["server1"])):
        other = make_plan(1, None, first)
    assert other.first_port != first.first_port


def test_a_given_port_that_is_taken_is_refused(monkeypatch):
    monkeypatch.setattr(plan, "RELEASE", 0.2)
    given = make_plan(1, None, None)

    with (
        socket.create_server(("127.0.0.1", given.ports["master"])),
        pytest.raises(ClusterFailed, match=f"port {given.ports['master']} is taken"),
    ):
        make_plan(1, given.first_port, None)


def test_a_port_that_is_about_to_be_released_is_waited_for():
    old = make_plan(1, None, None)
    holder = socket.create_server(("127.0.0.1", old.ports["server1"]))
    release = threading.Timer(0.3, holder.close)
    release.start()

    assert make_plan(1, None, old) == old

    release.join()


@pytest.mark.parametrize(("servers", "first"), [(0, None), (17, None), (1, 80), (3, 65530)])
def test_numbers_that_cannot_be_are_refused(servers, first):
    with pytest.raises(InvalidValue):
        make_plan(servers, first, None)


def test_gateways_speak_tls_as_the_last_time_and_keep_their_certificate(tmp_path):
    for name in local.FOLDERS:
        (tmp_path / name).mkdir()
    assert not local.settle(tmp_path, None, None, None).tls
    assert local.settle(tmp_path, None, None, True).tls
    made = certificate.certificate(tmp_path).read_bytes()
    again = local.settle(tmp_path, None, None, None)

    assert again.url(tmp_path).endswith(f"&tls=1&ca={tmp_path}/tls/ca.pem")
    assert certificate.certificate(tmp_path).read_bytes() == made
    assert (certificate.keystore(tmp_path).parent.stat().st_mode & 0o777) == 0o700
    assert not local.settle(tmp_path, None, None, False).tls


def test_a_certificate_that_cannot_be_made_is_told_in_one_sentence(tmp_path):
    with pytest.raises(ClusterFailed, match=r"cannot make a certificate for the HBase in .*exit status 1; see that"):
        certificate.make_certificate("false", tmp_path)
