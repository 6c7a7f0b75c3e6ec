"""FLOPs of recorded profiles against PyTorch's own counter.

flops/VERSION/MODULE.json.gz is a profile (record_shapes) of one forward and backward of a module on a CPU, cut to its ops; flops/numbers.json has what
torch.utils.flop_counter.FlopCounterMode counted in the same process. `how` says what was switched off for the counter, which has no formula for the fused
kernel; `debrief` and `why` are given where the counter is not what the op does.
"""
import json
import subprocess
from pathlib import Path

DATA = Path(__file__).resolve().parent / "flops"


def counted_by_debrief(binary, module, version):
    command = [binary, "profile", "roofline", str(DATA / version / f"{module}.json.gz"), "--json", "--quiet", "--top", "0"]
    sheets = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)["sheets"]
    rows = [row for sheet in sheets if sheet["table"] == "profile_mfu" for row in sheet["rows"]]
    assert len(rows) == 1, f"{module} {version}: {len(rows)} rows of profile_mfu"
    return rows[0]["model_flops"]


def check(binary):
    """Errors, and how many modules agree with the counter as it is."""
    errors, agree = [], 0
    for entry in json.loads((DATA / "numbers.json").read_text())["modules"]:
        expected = entry.get("debrief", entry["counter"])
        found = counted_by_debrief(binary, entry["module"], entry["torch"])
        if found != expected:
            errors.append(f"{entry['module']} of PyTorch {entry['torch']}: {found} FLOPs, expected {expected} (the counter: {entry['counter']})")
        agree += found == entry["counter"]
    return errors, agree
