"""The part of PyTorch that examples/record-torch/dispatch.py touches: tensors of ones, four ops, a dispatcher with modes.

It stands in for PyTorch where that is not installed, and computes only what the example looks at: shapes, dtypes, sums.
"""
from torch.utils._python_dispatch import dispatch

float32 = type("dtype", (), {"__str__": lambda self: "torch.float32"})()


class Schema:
    def __init__(self, name):
        self.name = name


class OpOverload:
    def __init__(self, name, compute):
        self._schema, self.compute = Schema(name), compute

    def __call__(self, *args, **kwargs):
        return self.compute(*args, **kwargs)


class Tensor:
    dtype, device = float32, "cpu"

    def __init__(self, shape, value):
        self.shape, self.value = shape, value

    def numel(self):
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    def element_size(self):
        return 4

    def __matmul__(self, other):
        return dispatch(mm, self, other)

    def softmax(self, dim):
        return dispatch(softmax, self, dim)

    def sum(self):
        return dispatch(total, self)

    def __float__(self):
        return float(self.value)


mm = OpOverload("aten::mm", lambda a, b: Tensor((a.shape[0], b.shape[1]), a.value * b.value * a.shape[1]))
softmax = OpOverload("aten::_softmax", lambda a, dim: Tensor(a.shape, 1 / a.shape[dim]))
total = OpOverload("aten::sum", lambda a: Tensor((), a.value * a.numel()))
fill = OpOverload("aten::ones", lambda shape: Tensor(tuple(shape), 1.0))


def ones(*shape):
    return dispatch(fill, list(shape))
