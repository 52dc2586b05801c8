#!/usr/bin/env bash
# Runs sbt from its launcher jar, taken once from Maven Central and checked against its SHA-256.
set -euo pipefail
version=1.11.7
sha256=f92a2095ac75008764fe3b2b793ffe624c4fbef5bfd9b0022e4bc2daf668c651
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar="${KEYROUTE_SBT_DIR:-$HOME/.cache/keyroute}/sbt-launch-$version.jar"
url="https://repo1.maven.org/maven2/org/scala-sbt/sbt-launch/$version/sbt-launch-$version.jar"

matches() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$sha256" ]; }

if ! matches "$jar"; then
  mkdir -p "$(dirname "$jar")"
  part="$jar.$$"
  echo "sbt: fetching the launcher $version once" >&2
  curl --fail --silent --show-error --location --retry 3 --output "$part" "$url"
  matches "$part" || { rm -f "$part"; echo "sbt: $url is not the file expected (SHA-256 differs)" >&2; exit 1; }
  mv "$part" "$jar"
fi
cd "$root"
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" ${SBT_OPTS:--Xmx3g -Xss8m} -Dsbt.color=false -Dsbt.supershell=false -jar "$jar" "$@"
