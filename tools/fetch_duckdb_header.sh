#!/bin/sh
# Puts DuckDB's C header at build/deps/duckdb/duckdb.h. Does nothing when it is there already.
#
# The library itself comes with `npm ci` (package.json), but that package carries no header. The source
# package of the same version does. It is packed, not installed: installing it would run a script and
# bring in a hundred other packages.
set -eu

version=1.4.4
# The registry's "integrity" of that package, in hexadecimal.
sha512=844249e61c9517454b8f776638ba6c5ab411d1bddde1892ab72826ea25178c72430e74aa83f5122b171be6abcdace84560f824b5ac94e9d5c2b603ea7269a9a2

cd "$(dirname "$0")/.."
folder=build/deps/duckdb
header=$folder/duckdb.h
if [ -e "$header" ]; then
  exit 0
fi

echo "fetching the header of DuckDB $version into $folder"
mkdir -p "$folder"
# Inside the target folder, so that the last step is a rename on one file system.
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

archive=$scratch/duckdb-$version.tgz
if ! npm pack --silent --pack-destination "$scratch" "duckdb@$version" >/dev/null; then
  echo "error: npm could not fetch duckdb@$version; check the network and npm's registry setting" >&2
  exit 1
fi
if ! echo "$sha512  $archive" | sha512sum --check --status; then
  echo "error: duckdb@$version is not the archive that this project was made with (sha512 differs)" >&2
  exit 1
fi
tar -xmzf "$archive" -C "$scratch" --strip-components=5 package/src/duckdb/src/include/duckdb.h
mv "$scratch/duckdb.h" "$header"
