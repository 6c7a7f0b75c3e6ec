#!/usr/bin/env python3
"""The Python package debrief_recorder: what it records is what a second reader (dbr.py) reads.

usage: python_binding.py --package FOLDER [unittest options]     FOLDER: the one that holds debrief_recorder/
"""
import argparse
import ast
import asyncio
import contextlib
import copy
import gc
import importlib.util
import inspect
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from dbr import Recording, unpack_op  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("--package", required=True)
PACKAGE, REST = arguments.parse_known_args()
sys.path.insert(0, PACKAGE.package)
import debrief_recorder as recorder  # noqa: E402
from debrief_recorder import _recorder  # noqa: E402


@recorder.recorded
def pickled(value):
    """Doubles."""
    return value * 2


class RecorderCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "run.dbr")

    def tearDown(self):
        recorder.close()
        self.folder.cleanup()

    def recorded(self, write, **options):
        """What is in the file after write()."""
        with recorder.open(self.path, **options):
            write()
        return Recording(self.path)

    def assert_nested(self, inner, outer):
        self.assertGreaterEqual(inner.values[0], outer.values[0])
        self.assertLessEqual(sum(inner.values[:2]), sum(outer.values[:2]))


class Opening(RecorderCase):
    def test_header_says_what_was_told(self):
        found = self.recorded(lambda: recorder.meta("model", "tiny"), rank=3, world_size=8, process_name="trainer", policy="stop")
        self.assertEqual((found.rank, found.world_size, found.process, found.policy, found.closed), (3, 8, "trainer", 1, 1))
        self.assertEqual((found.pid, found.metadata), (os.getpid(), {"model": "tiny"}))

    def test_rank_comes_from_the_environment(self):
        os.environ.update(RANK="5", WORLD_SIZE="16")
        try:
            found = self.recorded(lambda: None)
        finally:
            del os.environ["RANK"], os.environ["WORLD_SIZE"]
        self.assertEqual((found.rank, found.world_size), (5, 16))
        again = self.recorded(lambda: None)
        self.assertEqual((again.rank, again.world_size), (-1, -1))

    def test_errors_name_the_cause(self):
        missing = os.path.join(self.folder.name, "none", "run.dbr")
        with self.assertRaises(FileNotFoundError) as caught:
            recorder.open(missing)
        self.assertEqual(caught.exception.filename, missing)
        with recorder.open(self.path), self.assertRaisesRegex(RuntimeError, "open already"):
            recorder.open(self.path + "2")
        with self.assertRaisesRegex(ValueError, "policy"):
            recorder.open(self.path, policy="newest")
        with self.assertRaisesRegex(RuntimeError, "no recording is open"):
            recorder.snapshot(self.path)
        self.assertFalse(recorder.close())

    def test_all_is_nothing_without_a_recording(self):
        self.assertFalse(recorder.enabled())
        with recorder.scope("a"), recorder.op("b", inputs=[(1,)]):
            recorder.begin("c")
            recorder.end()
            recorder.instant("d")
            recorder.counter("e", 1)
            recorder.flow("f", recorder.FLOW_START, 1)
            recorder.span("g", 1, 2)
            recorder.note("m", 1)
            recorder.set_step(2)
            recorder.alloc(3, 4)
            recorder.free(3, 4)
            recorder.meta("h", "i")
            recorder.set_device("j")
            recorder.set_device(None)
            recorder.thread_name("k")
        self.assertEqual(recorder.name("l"), 0)
        self.assertEqual(recorder.losses(), (0, 0, 0, 0))
        self.assertEqual(self.recorded(lambda: None).records, [])

    def test_off_and_on_again(self):
        def write():
            around = recorder.scope("around")
            with around:
                recorder.enable(False)
                recorder.instant("not recorded")
                with recorder.scope("not recorded"), recorder.op("not recorded"):
                    recorder.enable(True)
                recorder.instant("recorded")
        self.assertEqual([record.name for record in self.recorded(write).records], ["recorded", "around"])

    def test_snapshot_and_losses(self):
        def write():
            for number in range(100_000):
                recorder.instant("tick")
            recorder.snapshot(self.path + ".copy")
            self.assertGreater(recorder.losses().overwritten, 0)
        found = self.recorded(write, max_bytes=1 << 20)
        loss = sum(record.values[0] for record in found.records if record.type == "loss")
        self.assertEqual(len(found.named("tick")) + found.overwritten, 100_000)
        self.assertGreater(loss, 0)
        self.assertEqual({record.name for record in Recording(self.path + ".copy").records}, {"tick", None})


class Scopes(RecorderCase):
    def test_reused_nested_and_entered_again(self):
        def write():
            outer, inner = recorder.scope("outer"), recorder.scope("inner")
            for _ in range(3):
                with outer, inner, inner, inner, inner:
                    pass
        found = self.recorded(write)
        self.assertEqual([record.name for record in found.records], (["inner"] * 4 + ["outer"]) * 3)
        self.assertEqual({record.type for record in found.records}, {"span"})
        for step in range(3):
            spans = found.records[step * 5:step * 5 + 5]
            for inner, outer in zip(spans, spans[1:]):
                self.assert_nested(inner, outer)

    def test_an_exception_closes_it_and_goes_on(self):
        def write():
            with contextlib.suppress(KeyError), recorder.scope("outer"), recorder.op("op"), recorder.scope("inner"):
                raise KeyError
        found = self.recorded(write)
        self.assertEqual([(record.type, record.name) for record in found.records],
                         [("begin", "op"), ("span", "inner"), ("op_end", None), ("span", "outer")])

    def test_threads_share_one_scope(self):
        def write():
            shared, barrier = recorder.scope("shared"), threading.Barrier(4)

            def work(number):
                recorder.thread_name(f"worker {number}")
                for _ in range(200):
                    with shared:
                        barrier.wait()
            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        found = self.recorded(write)
        counts = {}
        for record in found.named("shared"):
            counts[found.threads[record.tid]] = counts.get(found.threads[record.tid], 0) + 1
        self.assertEqual(counts, {f"worker {number}": 200 for number in range(4)})
        for tid in found.threads:  # each thread's spans follow one another: no start was taken from another thread
            spans = [record.values for record in found.named("shared") if record.tid == tid]
            self.assertTrue(all(before[0] + before[1] <= after[0] for before, after in zip(spans, spans[1:])))

    def test_left_on_another_thread(self):
        def write():
            def generator():
                with recorder.scope("held"):
                    yield
            held = generator()
            next(held)
            thread = threading.Thread(target=held.close)
            thread.start()
            thread.join()
        self.assertEqual(len(self.recorded(write).named("held")), 1)

    def test_names(self):
        names = ["", "semi;colon \"quoted\"", "größe 模型", "x" * 40_000, "\udcff"]

        def write():
            for name in names:
                with recorder.scope(name):
                    pass
        found = [record.name for record in self.recorded(write).records]
        self.assertEqual(found[1:3], names[1:3])
        self.assertEqual((found[0] or "", found[3], found[4]), ("", "x" * 32_768, "\\udcff"))
        with self.assertRaisesRegex(ValueError, "null character"):
            recorder.scope("a\0b")
        with self.assertRaisesRegex(TypeError, "must be a str, not int"):
            recorder.scope(3)

    def test_names_survive_the_recording(self):
        kept = recorder.scope("kept")

        def write():
            with kept:
                pass
        self.assertEqual(self.recorded(lambda: recorder.instant("first")).records[0].name, "first")
        for _ in range(2):
            self.assertEqual([record.name for record in self.recorded(write).records], ["kept"])

    def test_exit_without_enter_is_harmless(self):
        self.assertEqual(self.recorded(lambda: recorder.scope("a").__exit__(None, None, None)).records, [])

    def test_with_exit_stack_and_record_function(self):
        def write():
            with contextlib.ExitStack() as stack:
                stack.enter_context(recorder.scope("stacked"))
                with recorder.record_function("forward", args="batch 3") as entered:
                    self.assertIsInstance(entered, recorder.record_function)
                    self.assertEqual(entered.name, "forward")

            @recorder.record_function("decorated")
            def work():
                return 7
            self.assertEqual(work(), 7)
        self.assertEqual([record.name for record in self.recorded(write).records], ["forward", "stacked", "decorated"])


class Decorators(RecorderCase):
    def test_functions_and_methods(self):
        class Model:
            @recorder.recorded
            def forward(self, x, *, scale=1):
                return x * scale

            @staticmethod
            @recorder.recorded("static")
            def fixed(x):
                return x

            @classmethod
            @recorder.recorded("class")
            def make(cls):
                return cls()

        def write():
            model = Model()
            self.assertEqual(model.forward(3, scale=2), 6)
            self.assertEqual(Model.forward(model, 4), 4)
            bound = model.forward
            self.assertEqual(bound(*[5], **{"scale": 3}), 15)
            self.assertEqual(Model.fixed(8), 8)
            self.assertIsInstance(Model.make(), Model)
            with self.assertRaises(TypeError):
                model.forward(1, 2, 3)
        names = [record.name for record in self.recorded(write).records]
        forward = Model.forward.__qualname__
        self.assertEqual(names, [forward] * 3 + ["static", "class", forward])

    def test_it_looks_like_the_function(self):
        self.assertEqual((pickled.__name__, pickled.__doc__, pickled.__module__), ("pickled", "Doubles.", __name__))
        self.assertEqual(str(inspect.signature(pickled)), "(value)")
        self.assertIs(pickle.loads(pickle.dumps(pickled)), pickled)
        self.assertIs(copy.deepcopy(pickled), pickled)
        pickled.mark = 1
        self.assertEqual(pickled.mark, 1)

    def test_exceptions_pass(self):
        @recorder.recorded("fails")
        def fails():
            raise LookupError("x")

        def write():
            with self.assertRaisesRegex(LookupError, "x"):
                fails()
        self.assertEqual([record.name for record in self.recorded(write).records], ["fails"])

    def test_generators_record_each_piece(self):
        seen = []

        @recorder.recorded("pieces")
        def pieces():
            try:
                seen.append((yield 1))
                yield 2
            except LookupError:
                yield 3
            return 4

        def write():
            generator = pieces()
            self.assertTrue(inspect.isgenerator(generator))
            self.assertEqual((next(generator), generator.send("sent")), (1, 2))
            recorder.instant("between")
            self.assertEqual(generator.throw(LookupError()), 3)
            with self.assertRaises(StopIteration) as caught:
                next(generator)
            self.assertEqual(caught.exception.value, 4)
            abandoned = pieces()
            next(abandoned)
            abandoned.close()
        names = [record.name for record in self.recorded(write).records]
        self.assertEqual(names, ["pieces"] * 2 + ["between"] + ["pieces"] * 4)
        self.assertEqual(seen, ["sent"])

    def test_coroutines_record_each_piece(self):
        @recorder.recorded("task")
        async def task(number):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return number

        async def both():
            return await asyncio.gather(task(1), task(2))
        self.assertTrue(inspect.iscoroutinefunction(task))
        found = self.recorded(lambda: self.assertEqual(asyncio.run(both()), [1, 2])).named("task")
        self.assertEqual(len(found), 6)
        for before, after in zip(found, found[1:]):
            self.assertLessEqual(sum(before.values), after.values[0])

    def test_what_it_refuses(self):
        async def stream():
            yield 1
        for wrong, message in ((stream, "async generator"), (staticmethod(len), "not a function"), (3, "not a function")):
            with self.assertRaisesRegex(TypeError, message):
                recorder.recorded(wrong)


class Records(RecorderCase):
    def test_every_kind(self):
        def write():
            start = recorder.now()
            known = recorder.name("known")
            recorder.set_device("cuda:0")
            recorder.span(known, start, start + 5)
            recorder.begin("opened")
            recorder.counter("tokens", 2.5)
            recorder.set_device(None)
            recorder.end()
            recorder.instant(known)
            for kind in (recorder.FLOW_START, recorder.FLOW_STEP, recorder.FLOW_END):
                recorder.flow("launch", kind, 1 << 60)
        found = self.recorded(write).records
        self.assertEqual([(record.type, record.name, record.device, record.flags) for record in found],
                         [("span", "known", "cuda:0", 0), ("begin", "opened", "cuda:0", 0), ("counter", "tokens", "cuda:0", 0),
                          ("end", None, None, 0), ("instant", "known", None, 0), ("flow", "launch", None, 0),
                          ("flow", "launch", None, 1), ("flow", "launch", None, 2)])
        self.assertEqual((found[0].values[1], found[2].values[1], found[5].values[1]), (5, 2.5, 1 << 60))
        with recorder.open(self.path):
            for call in (lambda: recorder.instant(3.5), lambda: recorder.counter("a", "b"), lambda: recorder.begin(None)):
                self.assertRaises(TypeError, call)
            self.assertRaises(ValueError, recorder.flow, "a", 3, 1)
            self.assertRaises(OverflowError, recorder.instant, -1)

    def test_notes_steps_and_memory(self):
        def write():
            recorder.set_step(7)
            with recorder.op("mm"):
                recorder.note("tokens", -3)
                recorder.note("loss", 0.5)
                recorder.note("layer", "attention")
                recorder.note("shape", (2, 3))
            recorder.alloc(1 << 40, 4096, "cuda:0")
            recorder.free(1 << 40, 4096)
        recording = self.recorded(write)
        found = [record for record in recording.records if record.type in ("step", "note", "alloc", "free")]
        bits = struct.unpack("<Q", struct.pack("<d", 0.5))[0]
        self.assertEqual([(record.type, record.name, record.flags) for record in found],
                         [("step", None, 0), ("note", "tokens", 0), ("note", "loss", 1), ("note", "layer", 2), ("note", "shape", 2),
                          ("alloc", None, 0), ("free", None, 0)])
        self.assertEqual([record.values[1] for record in found[:3]], [7, 2**64 - 3, bits])
        self.assertEqual([recording.texts[record.values[1]] for record in found[3:5]], ["attention", "(2, 3)"])
        self.assertEqual([(record.device, *record.values[1:]) for record in found[5:]], [("cuda:0", 1 << 40, 4096), (None, 1 << 40, 4096)])
        with recorder.open(self.path, sync_seconds=1):
            self.assertRaises(TypeError, recorder.set_step, "a")
            self.assertRaises(OverflowError, recorder.note, "a", 1 << 70)
            self.assertRaises(TypeError, recorder.alloc, 1)

    def test_ops(self):
        class FakeDtype:
            def __str__(self):
                return "torch.bfloat16"

        def write():
            with recorder.op("aten::mm", inputs=[(64, 128), (128, 10)], dtype="float32") as op:
                op.describe(output=[64, 10], nbytes=2560)
            with recorder.op("aten::add", [(), (0, 7)], (1 << 40,), FakeDtype()):
                pass
            with recorder.op("no shapes"):
                pass
            with recorder.op("odd", dtype="quint4x2"):
                pass
        found = self.recorded(write).records
        self.assertEqual([record.name for record in found if record.type == "begin"],
                         ["aten::mm", "aten::add", "no shapes", "odd"])
        self.assertEqual([unpack_op(record) for record in found if record.type == "op_end"],
                         [([(64, 128), (128, 10)], (64, 10), "float32", 2560), ([(), (0, 7)], (1 << 40,), "bfloat16", 0),
                          ([], None, "unknown", 0), ([], None, "unknown", 0)])

    def test_more_shapes_than_an_op_can_hold_are_left_out_or_right(self):
        many, deep = [(7, 9)] * 40, [tuple(range(60)), (5,)]

        def write():
            with recorder.op("many", many, (3,), "int8"), recorder.op("deep", deep):
                pass
            with self.assertRaisesRegex(RuntimeError, "changed in size"), recorder.op("changing") as op:
                shapes = [(1,), (2,)]

                class Shrinking:
                    def __getitem__(self, index):
                        shapes.clear()
                        raise IndexError
                shapes[0] = Shrinking()
                op.describe(inputs=shapes)
        deep_op, many_op = [unpack_op(record) for record in self.recorded(write).records if record.type == "op_end"]
        self.assertIn(many_op, [(many, (3,), "int8", 0), (None, None, "int8", 0)])
        self.assertIn(deep_op, [(deep, None, "unknown", 0), (None, None, "unknown", 0)])

    def test_an_op_is_ended_whatever_its_shapes_are(self):
        def write():
            with self.assertRaises(TypeError), recorder.op("bad", inputs=[3]):
                pass
            with self.assertRaises(OverflowError), recorder.op("negative", output=(-1,)):
                pass
            with self.assertRaises(KeyError), recorder.op("both", inputs=[3]):
                raise KeyError
            with recorder.op("once") as op, self.assertRaisesRegex(RuntimeError, "open already"):
                op.__enter__()
        self.assertEqual([record.type for record in self.recorded(write).records],
                         ["begin", "end"] * 3 + ["begin", "op_end"])


class Processes(RecorderCase):
    def test_a_forked_child_has_a_file_of_its_own(self):
        with recorder.open(self.path, process_name="parent"):
            kept = recorder.scope("kept")
            with kept:
                pass
            child = os.fork()
            if child == 0:
                with kept, recorder.op("in the child"):
                    pass
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            with kept:
                pass
        found = Recording(f"{self.path}.{child}")
        self.assertEqual([(record.type, record.name) for record in found.records],
                         [("begin", "in the child"), ("op_end", None), ("span", "kept")])
        self.assertEqual((found.pid, found.parent_pid), (child, os.getpid()))
        self.assertEqual([record.name for record in Recording(self.path).records], ["kept", "kept"])

    def run_python(self, text):
        return subprocess.run([sys.executable, "-c", text, self.path], env={**os.environ, "PYTHONPATH": PACKAGE.package})

    def test_a_killed_process_leaves_all(self):
        done = self.run_python("""
import os, signal, sys, debrief_recorder as recorder
recorder.open(sys.argv[1])
for step in range(1000):
    with recorder.scope("step"):
        pass
with recorder.op("aten::mm"), recorder.scope("unfinished"):
    os.kill(os.getpid(), signal.SIGKILL)
""")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        found = Recording(self.path)
        self.assertEqual((len(found.named("step")), found.closed), (1000, 0))
        self.assertEqual((found.records[-1].type, found.records[-1].name), ("begin", "aten::mm"))

    def test_the_end_of_the_interpreter_closes(self):
        done = self.run_python("""
import sys, debrief_recorder as recorder
recorder.open(sys.argv[1])
recorder.instant("last")
""")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(Recording(self.path).closed, 1)


class TorchDispatch(RecorderCase):
    """examples/record-torch/dispatch.py, with PyTorch where it is installed, else with a stand-in (fake_torch/)."""

    def run_example(self, *words):
        folders = [PACKAGE.package] + ([] if importlib.util.find_spec("torch") else [str(HERE / "fake_torch")])
        example = HERE.parents[1] / "examples/record-torch/dispatch.py"
        return subprocess.run([sys.executable, example, *words], check=True, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": ":".join(folders)}).stdout

    def test_its_own_check(self):
        self.assertIn("the result is the same", self.run_example("--self-check"))

    def test_a_script_under_it(self):
        script = os.path.join(self.folder.name, "script.py")
        Path(script).write_text("import sys, torch\nprint(float((torch.ones(4, 8) @ torch.ones(8, 3)).sum()), sys.argv[1])\n")
        self.assertEqual(self.run_example(self.path, script, "word"), "96.0 word\n")
        found = Recording(self.path)
        ends = {begin.name: unpack_op(end) for begin, end in zip(found.records, found.records[1:]) if begin.type == "begin"}
        self.assertEqual(ends["aten::mm"], ([(4, 8), (8, 3)], (4, 3), "float32", 48))
        self.assertEqual(ends["aten::sum"], ([(4, 3)], (), "float32", 4))
        self.assertEqual({record.device for record in found.named("aten::mm")}, {"cpu"})


class References(RecorderCase):
    def test_no_reference_is_lost_or_kept(self):
        shape, name, dtype = (7_001, 7_002), "a name of its own " + str(os.getpid()), "float" + "32"
        plain, function = recorder.scope(name), lambda value: value
        wrapped = recorder.recorded("wrapped")(function)
        argument = object()
        watched = [shape, name, dtype, plain, function, wrapped, argument, None, _recorder.Scope, _recorder.op]

        def once():
            with plain, plain, recorder.scope(name), recorder.op(name, inputs=[shape], output=shape, dtype=dtype) as op:
                op.describe(inputs=[shape, shape], dtype=dtype)
                wrapped(argument)
            recorder.instant(name)
            recorder.counter(name, 1)
            recorder.flow(name, 0, 1)
            recorder.begin(name)
            recorder.end()
            recorder.record_function(name)
            for wrong in (lambda: recorder.scope(3), lambda: recorder.op(name, nbytes="x"), lambda: recorder.instant(argument)):
                with contextlib.suppress(TypeError):
                    wrong()
        with recorder.open(self.path):
            once()
            before = [sys.getrefcount(thing) for thing in watched]
            for _ in range(2_000):
                once()
            after = [sys.getrefcount(thing) for thing in watched]
        for index, (was, now) in enumerate(zip(before, after)):
            self.assertLess(abs(now - was), 50, f"reference count of watched object {index}: {was} -> {now}")

    def test_memory_does_not_grow(self):
        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work(count):
            for number in range(count):
                with recorder.scope("a"), recorder.op("b", [(1, 2)], (3,), "float32"):
                    recorder.recorded("c")(abs)(-1)
        with recorder.open(self.path, max_bytes=1 << 20):
            work(20_000)
            gc.collect()
            before = resident()
            work(100_000)
            gc.collect()
        self.assertLess(resident() - before, 2 << 20)

    def test_cycles_are_collected(self):
        import weakref

        class Holder:
            pass

        def make():
            holder = Holder()
            holder.wrapped = recorder.recorded("cycle")(lambda: holder)
            holder.op = recorder.op("cycle", inputs=[holder])
            return weakref.ref(holder)
        reference = make()
        gc.collect()
        self.assertIsNone(reference())


class Stubs(unittest.TestCase):
    """The stub says what the module has, by name and signature."""

    def setUp(self):
        folder = Path(recorder.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        self.tree = ast.parse((folder / "_recorder.pyi").read_text())

    @staticmethod
    def parameters(function):
        """[(name, kind, default)] of a def in the stub, without self and cls."""
        marks, found = function.args, []
        positional = marks.posonlyargs + marks.args
        defaults = [None] * (len(positional) - len(marks.defaults)) + marks.defaults
        for index, (argument, default) in enumerate(zip(positional, defaults)):
            kind = "positional" if index < len(marks.posonlyargs) else "any"
            found.append((argument.arg, kind, default and ast.literal_eval(default)))
        found += [(marks.vararg.arg, "var", None)] if marks.vararg else []
        found += [(argument.arg, "keyword", ast.literal_eval(default)) for argument, default in zip(marks.kwonlyargs, marks.kw_defaults)]
        return [entry for entry in found if entry[0] not in ("self", "cls")]

    @staticmethod
    def real_parameters(thing):
        kinds = {inspect.Parameter.POSITIONAL_ONLY: "positional", inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
                 inspect.Parameter.VAR_POSITIONAL: "var", inspect.Parameter.KEYWORD_ONLY: "keyword"}
        return [(parameter.name, kinds[parameter.kind], None if parameter.default is parameter.empty else parameter.default)
                for parameter in inspect.signature(thing).parameters.values() if parameter.name != "self"]

    def test_names(self):
        stub = {node.name for node in self.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        stub |= {node.target.id for node in self.tree.body if isinstance(node, ast.AnnAssign)}
        self.assertEqual(stub, {name for name in vars(_recorder) if not name.startswith("_")})

    def test_functions(self):
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                self.assertEqual(self.parameters(node), self.real_parameters(getattr(_recorder, node.name)), node.name)

    def test_methods(self):
        for node in (node for node in self.tree.body if isinstance(node, ast.ClassDef)):
            kind = getattr(_recorder, node.name)
            own = {name for name in vars(kind) if not name.startswith("_")}
            stub = {item.name: item for item in node.body}
            self.assertEqual({name for name in stub if not name.startswith("_")}, own, node.name)
            for name, item in stub.items():
                self.assertTrue(hasattr(kind, name), f"{node.name}.{name}")
                if name == "__new__":
                    self.assertEqual(self.parameters(item), self.real_parameters(kind), node.name)
                elif name in ("describe", "__exit__"):
                    self.assertEqual(self.parameters(item), self.real_parameters(vars(kind)[name]), name)

    def test_package_exports_what_it_says(self):
        for name in recorder.__all__:
            self.assertTrue(hasattr(recorder, name), name)
        stub = {node.name for node in self.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(stub - set(recorder.__all__), {"wrap"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST])
