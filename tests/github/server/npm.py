"""GitHub's own descriptions of itself, from npm: downloaded once, pinned by version and content, kept in the cache."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bot.settings import cache_directory


class UnavailableError(Exception):
    """A package cannot be had here; the message says what is needed."""


@dataclass(frozen=True)
class Package:
    """One package, and the one file of it that is read."""

    name: str
    version: str
    integrity: str  # sha512 in base64, as npm writes it
    member: str

    def file(self) -> Path:
        """Return the file, downloaded if need be.

        Raises:
            UnavailableError: There is no npm, or it cannot download.
        """
        directory = cache_directory() / "tests" / f"{self.name.replace('/', '+')}-{self.version}"
        wanted = directory / Path(self.member).name
        if wanted.is_file():
            return wanted
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not wanted.is_file():
                self._download(wanted)
        return wanted

    def _download(self, wanted: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise UnavailableError(f"npm is not installed, and {self.name} {self.version} comes from it.")
        with tempfile.TemporaryDirectory(dir=wanted.parent) as scratch:
            command = [npm, "pack", f"{self.name}@{self.version}", "--silent", "--pack-destination", scratch]
            done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
            archives = list(Path(scratch).glob("*.tgz"))
            if done.returncode or not archives:
                reason = (done.stderr.strip().splitlines() or ["npm said nothing"])[-1]
                raise UnavailableError(f"npm cannot download {self.name} {self.version}: {reason}")
            content = archives[0].read_bytes()
            found = base64.b64encode(hashlib.sha512(content).digest()).decode()
            assert found == self.integrity, f"{self.name} {self.version} is not the package that was pinned"
            with tarfile.open(archives[0]) as archive:
                member = archive.extractfile(f"package/{self.member}")
                assert member is not None
                part = Path(scratch) / "part"
                part.write_bytes(member.read())
            part.replace(wanted)


OPENAPI = Package(
    "@octokit/openapi",
    "23.0.2",
    "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    "generated/api.github.com.json",
)
GRAPHQL = Package(
    "@octokit/graphql-schema",
    "15.26.1",
    "RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA==",
    "schema.graphql",
)
EXAMPLES = Package(
    "@octokit/webhooks-examples",
    "7.6.1",
    "De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    "api.github.com/index.json",
)
