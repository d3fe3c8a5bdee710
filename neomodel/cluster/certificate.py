"""By what the gateways of a cluster with TLS are known: a key of its own, and a certificate signed with that key.

It names 127.0.0.1 and localhost, and is good for ten years. Whoever trusts the certificate file trusts these gateways
and nobody else.
"""

import subprocess
from pathlib import Path

from neomodel.errors import ClusterFailed

PASSWORD = "neomodel"  # Java wants one; what protects the key is that nobody else may read its file
_DAYS = 3650
_CLAIMS = ("san=ip:127.0.0.1,dns:localhost", "bc:c=ca:true", "ku:c=digitalSignature,keyCertSign", "eku=serverAuth")


def keystore(folder: Path) -> Path:
    """The file with key and certificate, for the gateways of the cluster in this folder."""
    return folder / "tls" / "gateway.p12"


def certificate(folder: Path) -> Path:
    """The file with the certificate alone, for clients."""
    return folder / "tls" / "ca.pem"


def make_certificate(java: str, folder: Path) -> None:
    """Make both files, unless they are there. Costs 2 s. Raises `ClusterFailed` if this Java can't."""
    if certificate(folder).exists():
        return
    keystore(folder).parent.mkdir(mode=0o700, exist_ok=True)
    keystore(folder).unlink(missing_ok=True)  # by a call that was cut off
    claims = [word for claim in _CLAIMS for word in ("-ext", claim)]
    form = ["-keyalg", "EC", "-groupname", "secp256r1", "-validity", str(_DAYS), "-storetype", "PKCS12"]
    _keytool(java, folder, "-genkeypair", "-dname", "CN=neomodel", *form, *claims)
    fresh = certificate(folder).with_suffix(".new")
    _keytool(java, folder, "-exportcert", "-rfc", "-file", str(fresh))
    fresh.replace(certificate(folder))


def _keytool(java: str, folder: Path, *words: str) -> None:
    where = ["-alias", "gateway", "-keystore", str(keystore(folder)), "-storepass", PASSWORD]
    run = subprocess.run(
        [java, "-m", "java.base/sun.security.tools.keytool.Main", *words, *where],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if run.returncode:
        reason = (run.stdout + run.stderr).strip().splitlines()[:1] or [f"exit status {run.returncode}"]
        remedy = "see that the folder can be written, or bring it up without TLS"
        raise ClusterFailed("make a certificate for the HBase in", str(folder), reason[0], remedy)
