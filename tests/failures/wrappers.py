"""Exceptions that wrap another one: the inner one is the reason, with the line of the user's program in which it was raised."""
import json

from texts import Case, SITE, STEPS, raised, remote_error, trace

LOADER = f"""ValueError: Caught ValueError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "{SITE}/torch/utils/data/_utils/worker.py", line 358, in _worker_loop
    data = fetcher.fetch(index)
  File "/home/user/data.py", line 34, in __getitem__
    return decode(path)
ValueError: cannot identify image '/data/7.jpeg'
"""
CHECKPOINT = f"""torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([2])
Traceback (most recent call last): (RANK 2)
  File "{SITE}/torch/distributed/checkpoint/utils.py", line 241, in all_reduce
    local_data = map_fun()
  File "/home/user/writer.py", line 43, in write_data
    raise OSError(28)
OSError: [Errno 28] No space left on device: '/mnt/ckpt/__2_0.distcp'
"""
CAUSE = "\n\nThe above exception was the direct cause of the following exception:\n\n"
HANDLING = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
NO_INDEX = "FileNotFoundError: [Errno 2] No such file: '/data/index.json'"
VERBOSE = "\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
USER_CODE = '\n\nfrom user code:\n   File "/home/user/model.py", line 88, in forward\n    return self.cache[x]'
FAKE = ("torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function linear(*(FakeTensor(..., size=(4, "
        "8))), **{}): got RuntimeError('a and b must have same reduction dim')")
REMOTE = '''concurrent.futures.process._RemoteTraceback: 
"""
Traceback (most recent call last):
  File "/usr/lib/python3.12/concurrent/futures/process.py", line 263, in _process_worker
    r = call_item.fn(*call_item.args)
  File "/home/user/tok.py", line 9, in encode
    return table[word]
KeyError: 'zebra'
"""'''
SPAWNED = f"""torch.multiprocessing.spawn.ProcessRaisedException: 

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "{SITE}/torch/multiprocessing/spawn.py", line 90, in _wrap
    fn(i, *args)
  File "/home/user/worker.py", line 12, in run
    x.backward()
RuntimeError: element 0 of tensors does not require grad"""
RAY = """ray.exceptions.RayTaskError(ValueError): \x1b[36mray::_RayTrainWorker__execute.get_next()\x1b[39m (pid=4712, ip=10.0.0.2)
  File "/home/user/loop.py", line 33, in train_loop
    raise ValueError("bad shard")
ValueError: bad shard"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/home/user/train.py", line 71, in <module>
  |     asyncio.run(main())
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/fetch.py", line 5, in fetch
    |     raise TimeoutError("shard 3")
    | TimeoutError: shard 3
    +------------------------------------
"""
RICH = """\u256d\u2500\u2500\u2500 Traceback (most recent call last) \u2500\u2500\u2500\u256e
\u2502 /home/user/train.py:71 in <module>                                        \u2502
\u2502                                                                           \u2502
\u2502 \u2771 71 \u2502   main()                                                           \u2502
\u2502 /usr/lib/python3.12/site-packages/torch/nn/modules/module.py:1779 in call \u2502
\u2570\u2500\u2500\u2500\u2500\u2500\u2500\u256f
ValueError: bad batch
"""


def of_rank_1(text):
    return {"rank0.err": STEPS + remote_error(0), "rank1.err": STEPS + text}


CASES = [
    Case("loader_worker", of_rank_1(raised(1, LOADER)), [1], "ValueError: cannot identify image.*data.py:34"),
    Case("checkpoint", {f"rank{rank}.err": raised(rank, CHECKPOINT) for rank in range(4)}, [2], "OSError.*No space left.*writer.py:43"),
    Case("compiler_backend", {"rank0.err": raised(0, "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nCppCompileError: "
                                                  "C++ compile error\n\nCommand:\ng++ /tmp/x.cpp" + VERBOSE)}, [0], "CppCompileError"),
    Case("compiler_internal", {"rank0.err": raised(0, "torch._dynamo.exc.InternalTorchDynamoError: TypeError: unhashable type: 'Sym'"
                                                   + USER_CODE + VERBOSE)}, [0], "with TypeError: unhashable.*model.py:88"),
    Case("compiler_fake_tensors", {"run.log": trace(FAKE + USER_CODE)}, [], "RuntimeError: a and b must have same reduction dim.*model.py:88"),
    Case("direct_cause", of_rank_1(raised(1, NO_INDEX + CAUSE + trace("RuntimeError: could not build the dataset"))),
         [1], "died with FileNotFoundError"),
    Case("hub_401", {"run.log": trace("requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://hub/org/model" + CAUSE
                                      + trace("huggingface_hub.errors.GatedRepoError: 401 Client Error."))}, [], "HTTPError: 401"),
    Case("while_handled", of_rank_1(raised(1, "KeyError: 'cache'" + HANDLING + trace(NO_INDEX))), [1], "died with FileNotFoundError"),
    Case("peer_lost_while_handled", of_rank_1(raised(1, NO_INDEX + HANDLING + trace("torch.distributed.DistBackendError: NCCL communicator was "
                                                                                   "aborted on rank 1."))), [1], "died with FileNotFoundError"),
    Case("pool", {"run.log": REMOTE + CAUSE + trace("KeyError: 'zebra'", "list(pool.map(encode, words))")}, [], "KeyError: 'zebra'.*tok.py:9"),
    Case("spawn", {"run.log": trace(SPAWNED)}, [1], "does not require grad.*worker.py:12"),
    Case("ray", {"driver.log": trace(RAY)}, None, "ValueError: bad shard.*loop.py:33"),
    Case("exception_group", {"run.log": GROUP}, [], "TimeoutError: shard 3.*fetch.py:5"),
    Case("error_file", {"logs/none_x/attempt_0/1/error.json": json.dumps({"message": {"message": LOADER, "extraInfo": {
        "py_callstack": trace(LOADER), "timestamp": "1794784492"}}})}, [1], "cannot identify image.*data.py:34"),
    Case("thread", of_rank_1("Exception in thread Thread-1 (_pin_memory_loop):\n" + trace("ConnectionResetError: [Errno 104] Connection reset by "
                                                                                        "peer")
                             + raised(1, "RuntimeError: DataLoader worker (pid 6930) exited unexpectedly with exit code 1.")),
         [1], "DataLoader worker .*exited unexpectedly"),
    Case("thread_without_marks", {"run.log": STEPS + "Exception in thread Thread-1 (f):\n" + trace("OSError: [Errno 5] Input/output error")
                                  + trace("RuntimeError: the queue is empty")}, [], "RuntimeError: the queue is empty"),
    Case("thread_alone", {"run.log": STEPS + "Exception in thread Thread-1 (f):\n" + trace("OSError: [Errno 5] Input/output error")},
         [], "Input/output error"),
    Case("drawn_by_rich", {"run.log": STEPS + RICH}, [], "ValueError: bad batch.*train.py:71"),
]
