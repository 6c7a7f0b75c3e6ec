#!/usr/bin/env bash
# Fuzzes importers, two at a time, each for SECONDS.
#
# usage: tests/fuzz/run.sh SECONDS [IMPORTER|all]
#
# Seeds are the golden inputs of the importer (unpacked, small ones), or made by a program seeds_<importer>. What the fuzzer finds worth keeping
# stays in build/fuzz-corpus/<importer> for the next run; an input that breaks something is left in
# build/fuzz-found/ and the exit code is not 0.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?usage: tests/fuzz/run.sh SECONDS [IMPORTER|all]}
target=${2:-all}
max_seed_bytes=65536

# The chunks of a recording have 64 KiB each: names, and records of two threads.
seed_limit() { if [[ $1 == recording ]]; then echo 204800; else echo $max_seed_bytes; fi; }

# A seed is a golden input behind one byte for the chunk size (see importer_fuzzer.cc); here 1 MiB.
make_seeds() {
  local importer=$1 folder=$2 file bytes
  rm -rf "$folder" && mkdir -p "$folder"
  for file in tests/golden/"$importer"/*/input/*; do
    [[ -f $file ]] || continue
    { printf '\4'; if [[ $file == *.gz ]]; then gzip -dcf "$file" || true; else cat "$file"; fi; } >"$folder/seed"
    bytes=$(stat -c %s "$folder/seed")
    if ((bytes <= $(seed_limit "$importer"))); then
      mv "$folder/seed" "$folder/$(sha256sum <"$folder/seed" | cut -c1-16)"
    fi
  done
  rm -f "$folder/seed"
  # What has no file format of its own makes its seeds itself.
  if [[ -x build/fuzz/seeds_$importer ]]; then "build/fuzz/seeds_$importer" "$folder"; fi
}

fuzz_one() {
  local importer=$1 corpus=build/fuzz-corpus/$1 log=build/fuzz-corpus/$1.log
  mkdir -p "$corpus" build/fuzz-found
  make_seeds "$importer" "$corpus.seeds"
  if build/fuzz/debrief_fuzz --target="$importer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len="$(seed_limit "$importer")" -print_final_stats=1 \
      -artifact_prefix="build/fuzz-found/$importer-" "$corpus" "$corpus.seeds" >"$log" 2>&1; then
    echo "fuzz $importer: $(sed -n 's/.*number_of_executed_units: *//p' "$log") runs in $seconds s, nothing found"
  else
    echo "FAILED fuzz $importer: the input is in build/fuzz-found/"
    grep -vE '^#[0-9]+' "$log" | tail -n 60
    return 1
  fi
}

export -f seed_limit make_seeds fuzz_one
export seconds max_seed_bytes
export ASAN_OPTIONS=${ASAN_OPTIONS:-external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer}
if [[ $target == all ]]; then
  importers=$(build/fuzz/debrief_fuzz --list)
else
  importers=$target
fi
xargs -n 1 -P 2 bash -c 'set -euo pipefail; fuzz_one "$1"' fuzz <<<"$importers"
