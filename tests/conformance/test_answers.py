"""The reading test: who has only the first screens (tools/answers.py) can say of each job which rank, why, and what next.

TRUTH has what is known of each job of that page: from the README.md beside the data, or, for profiles, computed from their events by another
program (union of kernels, copies and fills; from the first step to the last step or work; without steps from the first to the last work).
Of a job: the kind of its first line, its blamed ranks, words that the screen has to have, and figures in seconds that stand on it.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
AMOUNT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) (ns|us|ms|s)\b")
EXACT = 0.006  # three digits that count
HOST = "Look at what the host does before it launches"
LITTLE = r"No problem .*too little to say where time goes"
NOTHING = r"No problem .*no work of a device was recorded"

TRUTH = {
    "recorded/jobs/compile_divergence": ("warning", "rank 3", ["Rank 3 alone compiles function extra", "next: Look for a branch on the rank"], []),
    "recorded/jobs/crash": ("error", "rank 4", ["Rank 4 exited", r"next: Look for its exit code"], []),
    "recorded/jobs/healthy": ("info", None, ["No failure found"], []),
    "recorded/jobs/missing_collective": ("error", "rank 5", [r"Rank 5 skipped 4 collectives of mesh_dp", "next: Compare the code path of rank 5"], []),
    "recorded/jobs/p2p_size": ("error", "rank 4", [r"Rank 4 sends \[16, 256\] .* rank 0 receives \[32, 256\]", "next: If the job still runs, stop it"], []),
    "recorded/jobs/recompile_hang": ("error", "rank 3", ["Rank 3 was compiling aux_slow", "next: Compile it on all ranks before"], [45.1]),
    "recorded/jobs/size_mismatch": ("error", "rank 2", [r"Rank 2 called all_reduce #16 with size \[65536\]", "next: Compare the code path of rank 2"], []),
    "recorded/jobs/slow_gpu": ("warning", "rank 4", ["Rank 4 is a straggler: its GPU", "next: Compare the kernels of this rank"], []),
    "recorded/jobs/slow_rank": ("warning", "rank 6", ["Rank 6 is a straggler: its host", "its GPU is not slower", "next: Look at what the host of this rank does"], [0.0502]),
    "recorded/jobs/straggler": ("error", "rank 6", ["Rank 6 did not reach all_reduce #16 of mesh_dp", "next: Look at what its process does on the CPU"], []),
    "recorded/jobs/type_mismatch": ("error", "rank 1", ["Rank 1 called broadcast where rank 3 called all_reduce", "next: Compare the code path of rank 1"], []),
    "recorded/compile/autotune": (None, None, ["No problem found in 1 compile log"], []),
    "recorded/compile/cache": (None, None, ["No problem found in 1 compile log"], []),
    "recorded/compile/compiled_autograd": (None, None, ["No problem found in 1 compile log"], []),
    "recorded/compile/export": (None, None, ["No problem found in 1 compile log"], []),
    "recorded/compile/mixed": ("error", None, ["Compiling bad failed", "Compiling bad2 .* backend refuses this graph", "compile_cases.py:32"], []),
    "recorded/compile/provenance_cpu": (None, None, ["No problem found in 1 compile log"], []),
    "recorded/profiles/execution_trace.json.gz": (None, None, ["No problem found in 1 execution trace"], []),
    "recorded/profiles/memory_snapshot.pickle.gz": ("info", None, ["No failure found in 1 memory snapshot", r"1\.88 GiB in use"], []),
    "recorded/profiles/plain.json.gz": ("info", None, ["No failure found"], [0.0509, 0.290]),
    "recorded/profiles/stack.json.gz": ("info", None, ["No failure found"], [0.0275, 0.1476]),
    "train/aborted": ("error", "rank 5", [r"Rank 5 died by SIGABRT \(signal 6\)", "next: "], []),
    "train/comm_setup": ("error", None, ["Ranks 1, 3 and 5 stopped together", "ranks 0, 2, 4 and 6-7 not take part"], []),  # 6 is the truth; no file says so
    "train/killed": ("error", "rank 1", [r"Rank 1 was killed by SIGKILL \(signal 9\)", "next: Look for the out-of-memory killer"], []),
    "train/on_demand": ("info", None, ["No failure found"], []),
    "train/roots_healthy": (None, None, ["No problem found"], []),
    "train/roots_size": (None, None, ["No problem found", "without Flight Recorder dumps, mismatched collectives show only where"], []),
    "train/slow_save": ("error", "rank 2", [r"Rank 2 is in write_shard \(train\.py:41\)", r"next: Look at write_shard \(train\.py:41\)"], []),
    "train/two_attempts": ("error", "rank 1", ["Rank 1 died with OSError: No space left on device", "in attempt 0", "The restart, attempt 1, failed", "next: Free space"], []),
    "public/flight_recorder/gpu_error_1st": ("error", "ranks 12 and 14", ["kernel log", "Xid"], []),
    "public/flight_recorder/lock_gil_1st": ("error", "ranks 9 and 14", ["py-spy dump"], []),
    "public/kineto/hta/benchmark_result_2869224_1695835535_trace.json.gz": ("info", None, ["device memory is allocated", "No failure found"], [12.854, 12.920]),
    "public/kineto/hta/benchmark_result_493459_1694039959_trace.json.gz": ("info", None, ["device memory is allocated", "No failure found"], [15.976, 16.026]),
    "public/kineto/hta/benchmark_result_924719_1679055439_trace.json.gz": (None, None, [NOTHING], []),
    "public/kineto/hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz": (None, None, [LITTLE], [0.008912]),
    "public/kineto/hta/mtia_inference_rank_0.json.gz": (None, None, ["No problem found"], []),  # 4 % idle
    "public/kineto/hta/multi_stream_event_sync_trace.json.gz": (None, None, ["No failure found|No problem found"], [0.019506]),
    "public/kineto/hta/nccl_data.json.gz": ("info", None, [HOST, "No failure found"], [0.1575, 0.6672, 0.5097]),
    "public/kineto/hta/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz": (None, None, ["No problem found"], []),  # 2 % idle, no communication
    "public/kineto/hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz": (None, None, [r"1 of 300 ranks", NOTHING], []),
    "public/kineto/hta/rank_non_gpu.json.gz": (None, None, [NOTHING], []),
    "public/kineto/hta/trace_diff_control.json.gz": ("info", None, [HOST, "1 of 8 ranks"], [0.3886, 0.4652, 0.0766]),
    "public/kineto/hta/trace_diff_test.json.gz": ("info", None, ["send_recv takes 21 % of the time", "in 43|43 calls", "Step 1009"], [0.15926, 0.74524, 0.010705]),
    "public/kineto/hta/triton_example.json.gz": ("info", None, ["almost no work of a device", "next: Record steps that train"], [13.336]),
    "public/kineto/tracelens/graphs/gpu_only_trace.json.gz": (None, None, [LITTLE], [0.00598]),
    "public/kineto/tracelens/graphs/sglang_Qwen3-8B_decode.json.gz": ("info", None, ["without a recorded cause"], [0.009773, 0.47375, 0.46398]),
    "public/kineto/tracelens/graphs/trace.json.gz": (None, None, ["No failure found"], []),
    "public/kineto/tracelens/graphs/vllm_decode_full_graph_execution.json.gz": (None, None, [LITTLE], [0.010743]),
    "public/kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": (None, None, [LITTLE], [0.049653]),
    "public/kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz": (None, None, [LITTLE], [0.003908]),
    "public/kineto/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": (None, None, [LITTLE], [0.047086]),
    "public/kineto/tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz": (None, None, [LITTLE], [0.003496]),
    "public_more/dlrm": ("info", None, [HOST, "on ranks 0-7", "8 execution traces and 8 profiles"], [0.1281]),
    "public_more/nsys": ("info", None, ["the host waits for the device", "next: Find the call that waits for the device"], []),
    "public_more/roofline/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": (None, None, [LITTLE], [0.049653]),
    "public_more/roofline/mi300/Falconsai_nsfw_image_detection__1016002.json.gz": (None, None, [LITTLE], [0.006869]),
    "public_more/roofline/mi300/resnet_act_checkpoint.json.gz": (None, None, ["1 of 8 ranks", "too little to say where time goes"], [0.086568]),
    "public_more/straggler/timeline-AR.json.gz": ("warning", "rank 0", [r"1\.97x longer", "next: Check its GPU"], [22.8517, 46.3364]),
    "public_more/straggler/timeline-ST.json.gz": ("warning", "ranks 6-7", ["last pipeline stage", r"1\.18x longer", "next: Give the last stage fewer layers"], [0.3294, 2.1727]),
}


def screens_of(page):
    """Name of each job and its screen, its lines joined."""
    parts = re.findall(r"^## (\S+)\n\n```\n(.*?)^```$", page, re.M | re.S)
    return {name: re.sub(r"\s+", " ", text) for name, text in parts}


def wrong_with(screen, truth):
    """Sentences about what the screen does not say."""
    severity, ranks, words, figures = truth
    shown = [float(value) * UNITS[unit] for value, unit in AMOUNT.findall(screen)]
    is_severity = screen.startswith(severity) if severity else not re.match(r"(error|warning) ", screen)
    if not is_severity:
        yield f"is no {severity or 'clean bill'}"
    blamed = re.search(r"blamed: (ranks? [\d, and-]*\d)", screen)
    if (blamed[1] if blamed else None) != ranks:
        yield f"blames {blamed and blamed[1]} and not {ranks}"
    yield from (f"does not say: {one}" for one in words if not re.search(one, screen))
    yield from (f"has no figure of {one} s" for one in figures if not any(abs(each - one) <= EXACT * one for each in shown))


def test_every_first_screen_is_true(context):
    page = context.scratch / "answers.md"
    subprocess.run([sys.executable, ROOT / "tools/answers.py", "--binary", context.binary, "--output", page], check=True, stdout=subprocess.DEVNULL)
    screens = screens_of(page.read_text())
    assert screens.keys() == TRUTH.keys(), f"jobs without a truth, or none of the page: {screens.keys() ^ TRUTH.keys()}"
    wrong = [f"{name} {each}\n  {screen}" for name, screen in screens.items() for each in wrong_with(screen, TRUTH[name])]
    assert not wrong, "\n".join(wrong)
