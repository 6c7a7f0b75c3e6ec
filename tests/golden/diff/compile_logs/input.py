"""Writes two TORCH_TRACE logs: in the second, f has an op more, breaks its graph and is compiled again, and g is no longer compiled."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from torch_trace_writer import Log  # noqa: E402

GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[2, 3][3, 1]cpu"):
        l_x_ = L_x_
        y: "f32[2, 3][3, 1]cpu" = l_x_.sin();  l_x_ = None
        return (y,)
"""
MORE = GRAPH.replace("l_x_.sin();  l_x_ = None", "l_x_.sin();  l_x_ = None\n        y: \"f32[2, 3][3, 1]cpu\" = y.cos()")
BREAK = "Graph break in user code at /home/user/train.py:12\nGraph Break Reason: Unsupported Tensor.item() call\n"


def compile_(log, frame, name, graph, seconds, number=0, reasons=None):
    ids = (frame, number, 0)
    log.add("dynamo_start", {"stack": [{"line": 7 + frame, "name": name, "filename": 0, "loc": f"def {name}(x):"}]}, ids=ids)
    if reasons:
        log.artifact("recompile_reasons", reasons, ids)
    log.add("dynamo_output_graph", {"sizes": {"l_x_": [2, 3]}}, graph, ids)
    log.metrics(ids, co_name=name, co_filename="/home/user/train.py", co_firstlineno=7 + frame, entire_frame_compile_time_s=seconds)


def before():
    log = Log(0).string("/home/user/train.py", 0)
    compile_(log, 0, "f", GRAPH, 1.25)
    compile_(log, 1, "g", GRAPH, 0.5)
    return log


def after():
    log = Log(0).string("/home/user/train.py", 0)
    compile_(log, 0, "f", MORE, 3.5)
    log.artifact("dynamo_graph_break_reason", BREAK, (0, 0, 0))
    compile_(log, 0, "f", MORE, 0.5, 1, ["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 4"])
    return log


for job, log in (("before", before()), ("after", after())):
    Path(job).mkdir()
    Path(job, "dedicated_log_torch_trace_rank_0_abc.log").write_bytes(log.bytes())
