#!/usr/bin/env python3
"""Makes the wheel of seaway_jax: the package, the plugin, and the entry point by which JAX finds both."""
import argparse
import base64
import hashlib
import platform
import re
import sys
import zipfile
from pathlib import Path

NAME = "seaway_jax"


def version_of(package):
    return re.search(r'^__version__ = "(.+)"$', (package / "__init__.py").read_text(), re.M)[1]


def files_of(package, library, tag):
    """Name in the wheel -> bytes."""
    version = version_of(package)
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in sorted(package.glob("*.py"))}
    files[f"{NAME}/libseaway_pjrt.so"] = library.read_bytes()
    info = f"{NAME}-{version}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {version}\n"
        "Summary: Unmodified JAX programs on a Seaway cluster\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.11\nRequires-Dist: jax>=0.10\n").encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: seaway\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    files[f"{info}/entry_points.txt"] = f"[jax_plugins]\nseaway = {NAME}\n".encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    return version, files


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("target", type=Path, help="the directory that it goes to")
    options = parser.parse_args()
    tag = f"py3-none-linux_{platform.machine()}"
    version, files = files_of(options.package, options.library, tag)
    options.target.mkdir(parents=True, exist_ok=True)
    wheel = options.target / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as package:
        for name, data in files.items():
            # The same bytes each time, whenever it is made.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            package.writestr(entry, data)
    print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
