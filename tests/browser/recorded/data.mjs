// The reference data in ../shared/data (or where $DEBRIEF_SHARED_DATA says), unpacked once by its own script.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const packed = process.env.DEBRIEF_SHARED_DATA ?? path.join(root, "..", "shared", "data");

// The unpacked folder; null when there is none.
export function findData() {
  const script = path.join(packed, "unpack");
  if (!existsSync(script)) return null;
  const target = path.join(root, "build", "shared-data");
  // The lock: the conformance tests unpack the same.
  mkdirSync(path.dirname(target), { recursive: true });
  execFileSync("flock", [`${target}.lock`, script, target], { stdio: "ignore" });
  return target;
}

export function foldersOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map((one) => one.name)
    .sort();
}
