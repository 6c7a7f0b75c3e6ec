#!/usr/bin/env bash
# Puts in place what cross-building for 64-bit ARM takes: Debian's cross compiler, its libraries of arm64, and DuckDB's.
#
# usage: tools/setup_aarch64.sh          (as root; adds the architecture arm64 to this Debian)
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.4.4-r.3
sha512=a85dbf5a107e8bef22b3ad11ae94d8ff9667cb02146b2b818955d2b90e2bad19f59b582f7caa8fbe3c926e20e3620428ffa397bbf7dac74282d605e7356a0b10
folder=build/deps/duckdb-aarch64

packages=$(sed -nE 's/^aarch64 +([^ ]+).*/\1/p' tools/packages.txt)
# shellcheck disable=SC2086
if ! dpkg-query -W $packages >/dev/null 2>&1; then
  dpkg --add-architecture arm64
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
fi

[[ -f $folder/libduckdb.so ]] && exit 0
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
npm pack --silent --pack-destination "$scratch" "@duckdb/node-bindings-linux-arm64@$version" >/dev/null
archive=$(echo "$scratch"/*.tgz)
echo "$sha512  $archive" | sha512sum --check --status || { echo "setup: DuckDB $version for arm64 is another archive (sha512 differs)" >&2; exit 1; }
tar -xmzf "$archive" -C "$scratch" --strip-components=1 package/libduckdb.so
mv "$scratch/libduckdb.so" "$folder/"
