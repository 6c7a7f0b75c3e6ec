"""The licences of everything that a package carries: of Debian packages their copyright files, of npm packages theirs.

Without one of them there is no package: what it says cannot be given away.
"""
import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Inside of the program or beside it; headers count, their code is in the program.
DEBIAN = ["libsimdjson-dev", "libisal-dev", "libfmt-dev", "libcli11-dev", "libprotozero-dev", "libzstd-dev", "libarchive-dev", "nettle-dev",
          "liblzma-dev", "libbz2-dev", "zlib1g-dev", "libstdc++-12-dev"]
# Tools of the build and of the tests: nothing of them is in the report or in the program.
NPM_TOOLS = {"esbuild", "playwright-core", "typescript"}


def npm_packages():
    """What is carried: DuckDB, and what the report's page is made of, each with all it depends on."""
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    wanted = [name for kind in ("dependencies", "devDependencies") for name in lock[""].get(kind, {}) if name not in NPM_TOOLS]
    found = set()
    while wanted:
        name = wanted.pop()
        entry = lock.get(f"node_modules/{name}")
        if name not in found and entry is not None:
            found.add(name)
            wanted += entry.get("dependencies", {})
    return sorted(found)


def licence_of_npm(name):
    folder = ROOT / "node_modules" / name
    for path in sorted(folder.glob("LICEN[CS]E*")) + sorted(folder.glob("license*")):
        return path.read_text(errors="replace")
    described = json.loads((folder / "package.json").read_text())
    return f"{described.get('license', 'unknown')} ({described.get('homepage') or described.get('repository') or name})\n"


def version_of_debian(name):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=True).stdout


def copy_licences(folder):
    """Writes folder/NAME a package, and folder/README with the list."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["What this package of debrief carries, and under which terms. debrief itself: Apache-2.0 (LICENSE).", ""]
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    for name in DEBIAN:
        text = Path(f"/usr/share/doc/{name}/copyright").read_text(errors="replace")
        (folder / name).write_text(text)
        for common in set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text)):
            shutil.copy(f"/usr/share/common-licenses/{common}", folder / f"common-{common}")
        lines.append(f"{name} {version_of_debian(name)} (Debian)")
    for name in npm_packages():
        entry = json.loads((ROOT / "node_modules" / name / "package.json").read_text())
        (folder / name.lstrip("@").replace("/", "_")).write_text(licence_of_npm(name))
        lines.append(f"{name} {entry['version']} (npm), {entry.get('license', '')}")
    (folder / "README").write_text("\n".join(lines) + "\n")
