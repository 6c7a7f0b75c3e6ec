#!/usr/bin/env bash
# Puts in place what debrief is built and tested with; does nothing, and says nothing, when all is there.
#
# usage: tools/setup.sh [build|test|lint|package|cluster]     default: build; each group includes those before it, package and cluster build alone
#
#   1. the Debian packages of tools/packages.txt that are missing (as root, or with sudo)
#   2. Node with npm, when there is no npm at all: an existing Node, of whatever origin, is left alone
#   3. the npm packages of package-lock.json, without running their install scripts (.npmrc)
#   4. the C header of DuckDB
set -euo pipefail
cd "$(dirname "$0")/.."

group=${1:-build}
case $group in
  build) groups='build' ;;
  test) groups='build|test' ;;
  lint) groups='build|test|lint' ;;
  package) groups='build|package' ;;
  cluster) groups='build|cluster' ;;
  *) echo "usage: tools/setup.sh [build|test|lint|package|cluster]" >&2; exit 2 ;;
esac

# The packages of our groups that dpkg does not know as installed, one a line.
missing_packages() {
  local wanted
  wanted=$(sed -nE "s/^($groups) +([^ ]+).*/\2/p" tools/packages.txt | sort)
  # shellcheck disable=SC2086
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
    sed -n 's/ installed$//p' | sort -u | comm -23 <(echo "$wanted") - || true
  command -v npm >/dev/null || echo "nodejs npm"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    echo "setup: neither root nor sudo; run this as root: $*" >&2
    return 1
  fi
}

install_packages() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  [[ -n ${missing// /} ]] || return 0
  echo "setup: installing Debian packages: $missing"
  as_root apt-get update -qq
  # shellcheck disable=SC2086
  as_root apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >build/setup.log 2>&1 ||
    { tail -n 30 build/setup.log >&2; return 1; }
}

# npm ci takes seconds even when nothing has changed; a stamp with the sum of its inputs tells that.
install_npm_packages() {
  [[ -f package-lock.json ]] || return 0
  local sum stamp=build/deps/npm.stamp
  sum=$(cat package.json package-lock.json .npmrc | sha256sum)
  [[ -d node_modules && -f $stamp && $(<"$stamp") == "$sum" ]] && return 0
  echo "setup: installing npm packages of package-lock.json into node_modules/"
  npm ci --silent --no-progress || { echo "setup: npm ci failed; run it by hand to see why" >&2; return 1; }
  echo "$sum" >"$stamp"
}

mkdir -p build/deps
install_packages
install_npm_packages
[[ -f build/deps/duckdb/duckdb.h ]] || tools/fetch_duckdb_header.sh
