#!/usr/bin/env python3
"""Records every op that PyTorch dispatches, with shapes, dtype, device and bytes, into a file that survives a crash.

usage: dispatch.py RECORDING SCRIPT [ARGUMENTS...]     runs the script as python would, with its ops recorded
       dispatch.py --self-check                        records a small model and looks at what was written

In a program of one's own: `with debrief_recorder.open("run.dbr"), RecordOps(): train()`. For eager mode, PyTorch 2.4 or
later. An op's time is that of the host: on a GPU, of the launch. Each op is in the file from its begin on, so that of a
killed process shows the op it died in.
"""
import runpy
import sys
import tempfile

import debrief_recorder as recorder
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def tensors_in(value):
    """The tensors among the arguments or results of an op, in order, also those in lists."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


class RecordOps(TorchDispatchMode):
    """While it is entered, every op that reaches the dispatcher below autograd is recorded."""

    def __init__(self):
        super().__init__()
        self.ops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not recorder.enabled():
            return func(*args, **kwargs)
        self.ops += 1
        inputs = tensors_in([*args, *kwargs.values()])
        recorder.set_device(str(inputs[0].device) if inputs else None)
        with recorder.op(func._schema.name, inputs=[tuple(tensor.shape) for tensor in inputs]) as op:
            result = func(*args, **kwargs)
            outputs = tensors_in(result)
            if outputs:
                if not inputs:
                    recorder.set_device(str(outputs[0].device))
                op.describe(output=tuple(outputs[0].shape), dtype=outputs[0].dtype,
                            nbytes=sum(tensor.numel() * tensor.element_size() for tensor in outputs))
        return result


def small_model():
    weights = torch.ones(8, 3)
    return (torch.ones(4, 8) @ weights).softmax(-1).sum()


def self_check():
    expected = float(small_model())
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/run.dbr"
        with recorder.open(path), RecordOps() as mode:
            answer = float(small_model())
            lost = recorder.losses()
        with open(path, "rb") as file:
            content = file.read()
    assert answer == expected, f"recording changed the result: {answer}, not {expected}"
    assert mode.ops >= 3 and not any(lost), f"{mode.ops} ops, lost {lost}"
    for name in (b"aten::mm", b"aten::_softmax", b"aten::sum"):
        assert name in content, f"{name.decode()} was not recorded"
    print(f"self-check: {mode.ops} ops recorded, the result is the same")


def main():
    if sys.argv[1:] == ["--self-check"]:
        return self_check()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    with recorder.open(path), RecordOps():
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
