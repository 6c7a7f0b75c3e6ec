"""Floating point operations and bytes of ops against the tables that TraceLens's tests compare with; MFU of a profile computed by hand."""
import ast
import csv
import json

TRACES = {"h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": "h100/Qwen_Qwen1.5-0.5B-Chat__1016005_perf_report_csvs",
          "mi300/Falconsai_nsfw_image_detection__1016002.json.gz": "mi300/Falconsai_nsfw_image_detection__1016002_perf_report_csvs",
          "mi300/resnet_act_checkpoint.json.gz": "mi300/resnet_act_checkpoint_recompute_perf_report_csvs"}
TABLES = ["GEMM", "SDPA_fwd", "CONV_fwd", "CONV_bwd", "Normalization", "UnaryElementwise", "BinaryElementwise", "Reduce_fwd", "Reduce_bwd"]
CLOSE = 1e-3


def rows(context, path, definition="debrief"):
    answer = json.loads(context.run("profile", "roofline", path, "--json", "--top", 0, "--definition", definition).stdout)
    return {sheet["table"]: sheet["rows"] for sheet in answer["sheets"]}


def key(name, shapes, types):
    return name, json.dumps(shapes), json.dumps(types)


def test_operations_and_bytes_are_those_of_tracelens(context):
    folder = context.data / "public_more/roofline"
    if not folder.exists():
        print("  skipped: public_more/roofline is not among the data")
        return
    compared = missing = 0
    for trace, tables in TRACES.items():
        ours = {}
        for row in rows(context, folder / trace, "tracelens")["profile_roofline"]:
            assert row["definition"] == "tracelens", row
            ours.setdefault(key(row["op"], json.loads(row["shapes"]), json.loads(row["dtypes"])), []).append(row)
        for table in TABLES:
            path = folder / tables / f"{table}.csv"
            for theirs in csv.DictReader(path.open()) if path.exists() else []:
                found = ours.get(key(theirs["name"], ast.literal_eval(theirs["Input Dims_first"]), ast.literal_eval(theirs["Input type_first"])))
                if not found:
                    missing += float(theirs["Kernel Time (µs)_sum"] or 0) > 0
                    continue
                flops, size = float(theirs["GFLOPS_first"]) * 1e9, float(theirs["Data Moved (MB)_first"]) * 2**20
                assert any(abs(row["flops"] - flops) <= CLOSE * flops and abs(row["bytes"] - size) <= CLOSE * size for row in found), (theirs, found)
                compared += 1
    print(f"  {compared} rows agree, {missing} of theirs are missing")
    assert compared > 80 and missing == 0, (compared, missing)


def own_rows(context, trace):
    return [row for row in rows(context, context.data / "public_more/roofline" / trace)["profile_roofline"] if row["definition"] == "debrief"]


def test_where_tracelens_is_wrong(context):
    """Figures computed by hand (docs/compat.md)."""
    def of(found, op, shapes):
        return {(row["flops"], row["bytes"]) for row in found if row["op"] == op and [shape for shape in json.loads(row["shapes"]) if shape] == shapes}
    if not (context.data / "public_more/roofline").exists():
        print("  skipped: public_more/roofline is not among the data")
        return
    image, residual, language = (own_rows(context, trace) for trace in (list(TRACES)[1], list(TRACES)[2], list(TRACES)[0]))
    assert of(image, "aten::convolution", [[4, 3, 224, 224], [768, 3, 16, 16], [768]]) == {(925_446_144, 3_589_632)}
    assert of(residual, "aten::convolution_backward", [[10, 64, 112, 112], [10, 3, 224, 224], [64, 3, 7, 7]]) == {(2_360_279_040, 19_085_696)}
    assert (9_158_656, 36_670_400) in of(language, "aten::mean", [[16, 559, 1024]])


def test_recomputation_is_no_part_of_mfu(context):
    found = rows(context, context.data / "public_more/roofline" / list(TRACES)[2])["profile_mfu"][0]
    own = own_rows(context, list(TRACES)[2])
    again = sum(row["count"] * row["flops"] for row in own if row["direction"] == "recompute" and row["category"] in ("CONV_fwd", "GEMM"))
    assert found["hfu"] > found["mfu"] > 0 and 0.9 * again <= found["recompute_flops"] <= again, (found, again)


def test_compiled_kernels_go_by_the_graph_in_the_compile_log(context):
    found = {row["op"]: row for row in rows(context, context.data / "recorded/jobs/healthy")["profile_roofline"] if row["definition"] == "debrief"}
    row = found["triton_poi_fused_add_addmm_sin_1"]  # two sums and a sine of 8192; one pointer is read and written
    assert (row["flops"], row["bytes"]) == (6 * 8192, 4 * (2 * 8192 + 256 + 8192)) and "estimated" not in row, row
    alone = rows(context, context.data / "recorded/jobs/healthy/profile_rank0.json.gz")["profile_roofline"]
    assert all("estimated" in row for row in alone if row["category"] == "triton"), alone


def test_mfu_of_a_recorded_profile(context):
    found = rows(context, context.data / "recorded/profiles/plain.json.gz")
    mfu = found["profile_mfu"][0]
    assert mfu["model_flops"] == 1_517_961_609_216 + 29_104_275_456, mfu
    for column, percent in (("mfu", 0.554), ("busy_share", 18.03), ("matrix_share", 78.27), ("matrix_efficiency", 3.92)):
        assert abs(100 * mfu[column] - percent) <= 0.01, (column, mfu[column])
    first = [row for row in sorted(found["profile_roofline"], key=lambda row: -row.get("save_ns", 0)) if row["definition"] == "debrief"][:2]
    assert {row["op"] for row in first} == {"aten::mm"} and all(50257 in sum(json.loads(row["shapes"]), []) for row in first), first


def test_rows_add_up_and_none_is_lost(context):
    for path in sorted((context.data / "public_more/roofline").rglob("*.json.gz")):
        found = [row for row in rows(context, path)["profile_roofline"] if row["definition"] == "debrief"]
        assert abs(sum(row["share"] for row in found) - 1) < 1e-9, path
        modelled = [row for row in found if "flops" in row]
        assert modelled and all(row.get("efficiency", 0) < 1.5 for row in modelled if row["category"] == "GEMM"), path
