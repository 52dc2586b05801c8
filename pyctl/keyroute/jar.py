"""Where the plugin's jar lies: inside the installed package, or built in a source checkout."""

from __future__ import annotations

from pathlib import Path

PATTERN = "keyroute-spark-4.3_2.13-*.jar"


class JarMissing(Exception):
    """No jar: the text says how to get it."""


def find_jar(package: Path | None = None) -> Path:
    """Absolute path of the jar. Raises JarMissing."""
    package = (package or Path(__file__).parent).resolve()
    checkout = package.parents[1]
    folders = [package / "jars"]
    if (checkout / "build.sbt").exists():
        # What was built last is what a checkout means.
        folders.insert(0, checkout / "target")
    for folder in folders:
        jars = sorted(folder.glob(PATTERN), key=lambda jar: jar.stat().st_mtime)
        if jars:
            return jars[-1]
    raise JarMissing(
        f"There is no {PATTERN} in {' or '.join(str(folder) for folder in folders)}: in a source "
        "checkout run `make jar`; otherwise install the keyroute wheel, which holds it."
    )
