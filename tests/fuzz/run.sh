#!/usr/bin/env bash
# Fuzzes importers, two at a time, each for SECONDS.
#
# usage: tests/fuzz/run.sh SECONDS [IMPORTER|all]
#
# Seeds are the golden inputs of the importer (unpacked, small ones), or made by a program seeds_<importer>; other_seeds names those
# of the targets that are no importers. What the fuzzer finds worth keeping
# stays in build/fuzz-corpus/<importer> for the next run; an input that breaks something is left in
# build/fuzz-found/ and the exit code is not 0.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?usage: tests/fuzz/run.sh SECONDS [IMPORTER|all]}
target=${2:-all}
max_seed_bytes=65536

# The chunks of a recording have 64 KiB each: names, and records of two threads.
seed_limit() { if [[ $1 == recording ]]; then echo 204800; else echo $max_seed_bytes; fi; }

# Of the targets of other_fuzzers.cc, in the form that each takes.
other_seeds() {
  local folder=$2 file number=0
  case $1 in
    accel) for file in tests/golden/{flex,aiu_compiler_log,chrome_trace}/*/input/*.json examples/accel/*; do
             if [[ -f $file ]]; then { printf '\0'; head -c $max_seed_bytes "$file"; } >"$folder/$((number += 1))"; fi
           done ;;
    archive) for file in tests/golden/op_trace/*/input/*.json; do
               tar -cf "$folder/$((number += 1)).tar" "$file"; gzip -kn "$folder/$number.tar"
               python3 -m zipfile -c "$folder/$number.zip" "$file"
             done ;;
    discovery) printf '\3\013rank_0/logs\0\2\5empty\0\0\4link\6rank_0\1\4pipe\0\3\20nccl_trace_rank_\2{}' >"$folder/1"
               printf '\3\030attempt_0/0/stderr.log.gz\4abcd\3\023slurm-12_3.out.1.txt\5hello' >"$folder/2" ;;
    redact) printf '\0/home/ann/a.py n7:1:2 [0] NCCL INFO hf_AbCdEfGhIjKlMnOpQrSt {"password": "x"} a@b.example 10.1.2.3 fe80::1 https://u:p@h/' >"$folder/0"
            for file in examples/hung-job/nccl_trace_rank_0 examples/hung-job/stdout_rank0.txt tests/golden/torch_trace/*/input/*.log; do
              if [[ -f $file ]]; then for kind in 0 1 2 3; do { printf "\\$kind"; head -c 8192 "$file"; } >"$folder/$((number += 1))"; done; fi
            done ;;
    sql) while read -r file; do printf '%s' "$file" >"$folder/$((number += 1))"; done <tests/fuzz/sql_seeds.txt ;;
    mcp) for file in tests/mcp/transcripts/*.txt; do
           { printf '\377\377\377'; sed -n 's/^> //p' "$file"; } >"$folder/$((number += 1))"
           sed -n 's/^> //p' "$file" | while read -r line; do printf '\007\010\001%s\n' "$line" >"$folder/$((number += 1)).line"; done
         done ;;
    doctor) for file in tests/golden/doctor/*/input/*.s*; do cp "$file" "$folder/$((number += 1))"; done ;;
    findings) for file in tests/golden/*/*/expected/out/findings.json; do
                if [[ -f $file ]]; then cp "$file" "$folder/$((number += 1))"; fi
              done
              printf '{"schema": 1, "debrief": "0.1.0", "jobs": [], "findings": [{"id": "f1", "rule": "x", "severity": "error", "headline": "h", "explains": ["f2"], "evidence": []}]}' >"$folder/0" ;;
  esac
}

# A seed is a golden input behind one byte for the chunk size (see importer_fuzzer.cc); here 1 MiB.
make_seeds() {
  local importer=$1 folder=$2 file bytes
  rm -rf "$folder" && mkdir -p "$folder"
  other_seeds "$importer" "$folder"
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

export -f seed_limit other_seeds make_seeds fuzz_one
export seconds max_seed_bytes
export ASAN_OPTIONS=${ASAN_OPTIONS:-external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer}
if [[ $target == all ]]; then
  importers=$(build/fuzz/debrief_fuzz --list)
else
  importers=$target
fi
xargs -n 1 -P 2 bash -c 'set -euo pipefail; fuzz_one "$1"' fuzz <<<"$importers"
