"""Object stores for tests: programs that stand in for those of Amazon, Microsoft and Google, on this machine alone."""

import base64
import contextlib
import hashlib
import hmac
import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from email.utils import formatdate

import pytest

Put = Callable[[str, bytes], None]

# Azurite's own, which everybody knows.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextlib.contextmanager
def s3(patch: pytest.MonkeyPatch) -> Iterator[tuple[str, Put]]:
    moto = pytest.importorskip("moto.server", reason="needs moto[s3] and flask")
    boto3 = pytest.importorskip("boto3")
    served = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    served.start()
    host, port = served.get_host_and_port()
    patch.setenv("AWS_ACCESS_KEY_ID", "canary-id")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "canary-key")
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    patch.setenv("AWS_REGION", "us-east-1")
    patch.setenv("AWS_ALLOW_HTTP", "true")
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="clinic")
    yield "s3://clinic", lambda key, body: client.put_object(Bucket="clinic", Key=key, Body=body)
    client.close()
    served.stop()


@contextlib.contextmanager
def azure(patch: pytest.MonkeyPatch) -> Iterator[tuple[str, Put]]:
    flags = ("--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent")
    with _served("azurite-blob", "npm's azurite", "--blobHost", "--blobPort", *flags) as base:
        patch.setenv("AZURITE_BLOB_STORAGE_URL", base)
        patch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
        patch.setenv("AZURE_STORAGE_ACCOUNT_NAME", _ACCOUNT)
        patch.setenv("AZURE_STORAGE_ACCOUNT_KEY", _KEY)
        _put_azure(base, "clinic", b"", container=True)
        yield "az://clinic", lambda key, body: _put_azure(base, f"clinic/{key}", body)


def _put_azure(base: str, path: str, body: bytes, *, container: bool = False) -> None:
    # As "Authorize with Shared Key" of the store's reference has it.
    own = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    own |= {} if container else {"x-ms-blob-type": "BlockBlob"}
    said = "".join(f"{name}:{own[name]}\n" for name in sorted(own))
    kind = "application/octet-stream"
    resource = f"/{_ACCOUNT}/{_ACCOUNT}/{path}" + ("\nrestype:container" if container else "")
    signed = f"PUT\n\n\n{len(body) or ''}\n\n{kind}\n\n\n\n\n\n\n{said}{resource}"
    digest = hmac.new(base64.b64decode(_KEY), signed.encode(), hashlib.sha256).digest()
    key = f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}"
    url = f"{base}/{_ACCOUNT}/{path}" + ("?restype=container" if container else "")
    _send(url, body, "PUT", {**own, "Content-Type": kind, "Authorization": key})


@contextlib.contextmanager
def google(patch: pytest.MonkeyPatch) -> Iterator[tuple[str, Put]]:
    flags = ("-scheme", "http", "-backend", "memory", "-public-host", "127.0.0.1:{port}")
    with _served("fake-gcs-server", "fake-gcs-server", "-host", "-port", *flags) as base:
        about = {
            "gcs_base_url": base,
            "disable_oauth": True,
            "client_email": "",
            "private_key": "",
            "private_key_id": "",
        }
        patch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(about))
        patch.setenv("GOOGLE_ALLOW_HTTP", "true")
        _send(f"{base}/storage/v1/b", b'{"name": "clinic"}', "POST", {"Content-Type": "application/json"})
        upload = f"{base}/upload/storage/v1/b/clinic/o?uploadType=media&name="
        kind = {"Content-Type": "application/octet-stream"}
        yield "gs://clinic", lambda key, body: _send(upload + urllib.parse.quote(key, ""), body, "POST", kind)


@contextlib.contextmanager
def _served(program: str, package: str, host: str, port: str, *flags: str) -> Iterator[str]:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"needs {package}: its program {program} on the path")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    command = [found, host, "127.0.0.1", port, str(number), *(flag.format(port=number) for flag in flags)]
    served = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), 1):
                break
            assert served.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{number}"
    finally:
        served.terminate()
        served.wait()


def _send(url: str, body: bytes, method: str, headers: dict[str, str]) -> None:
    urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method)).close()
