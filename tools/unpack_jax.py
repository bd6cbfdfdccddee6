#!/usr/bin/env python3
"""Takes a plugin and the header of its interface out of the packages that ./dev jax has fetched."""
import os
import sys
import zipfile
from pathlib import Path

# What is looked for, by the end of its name in a package, and where it goes.
WANTED = {"libpjrt_cpu.so": "plugin.so", "include/pjrt_c_api.h": "include/pjrt_c_api.h"}


def unpack(wheels, target):
    """Names of what was not found. Each file is there whole, or not at all."""
    missing = dict(WANTED)
    for wheel in sorted(Path(wheels).glob("*.whl")):
        with zipfile.ZipFile(wheel) as package:
            for name in package.namelist():
                found = [end for end in missing if name.endswith(end)]
                for end in found:
                    path = Path(target) / missing.pop(end)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    draft = path.with_name(path.name + ".draft")
                    draft.write_bytes(package.read(name))
                    os.replace(draft, path)
    return sorted(missing)


def main():
    missing = unpack(sys.argv[1], sys.argv[2])
    if missing:
        print("not in the packages: " + ", ".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
