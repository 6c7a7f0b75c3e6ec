"""What gloo leaves: calls that give up with the line of the program and nothing else, messages of another size, closed connections."""
from texts import SITE, STEPS, Case, failed, marked, stopping, torchrun, trace

PAIR, BUFFER = "[./gloo/transport/tcp/pair.cc:547]", "[./gloo/transport/tcp/unbound_buffer.cc:78]"
WAITED = f"RuntimeError: {BUFFER} Timed out waiting 12000ms for recv operation to complete"
CLOSED = f"RuntimeError: {PAIR} Connection closed by peer [10.1.2.3]:40312"
ENFORCE = ("terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at ./gloo/transport/tcp/pair.cc:456] "
           "op.preamble.length <= op.nbytes. 96 vs 48. Received data size doesn't match expected size. Is there a distributed collective mismatch "
           "in your code?\n")


def gave_up(rank, exception, line=40):
    return marked(f"[rank{rank}]: ", f'Traceback (most recent call last):\n  File "/srv/fit.py", line 90, in <module>\n    main()\n'
                                     f'  File "/srv/fit.py", line {line}, in main\n    reduce(loss)\n'
                                     f'  File "{SITE}/torch/distributed/distributed_c10d.py", line 3913, in all_reduce\n    work.wait()\n{exception}')


def mismatch(rank, own, peer, other):
    return gave_up(rank, f"RuntimeError: Detected mismatch between collectives on ranks. Rank {rank} is running collective: CollectiveFingerPrint("
                         f"SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[{own}], TensorDtypes=Float, TensorDeviceTypes=x), but Rank {peer} is "
                         f"running collective: CollectiveFingerPrint({other}).Collectives differ in the following aspects: Sequence number: 7vs 0")


INNER = (f'Traceback (most recent call last):\n  File "{SITE}/torch/__init__.py", line 2118, in _check_with\n    raise error_type(message)\n'
         "RuntimeError: Attempting to broadcast a dimension of length 6\n\nThe above exception was the direct cause of the following exception:\n\n")
OUTER = ('Traceback (most recent call last):\n  File "/srv/fit.py", line 52, in main\n    out = left + right\n'
         f'  File "{SITE}/torch/_ops.py", line 916, in __call__\n    return self._op(*args)\nRuntimeError: Attempting to broadcast a dimension of length 6\n')
PICKLE = "_pickle.PicklingError: Can't pickle local object <function Rows.<locals>.<lambda> at 0x7f{}93cb3060>"
CONNECTED = "[./gloo/transport/tcp/context.cc:243] INFO Rank {} is connected to 2. Expected number of connected peers is: 2\n"
# What the program printed and got over; then it lost its peer.
LOGGED = ('09:10:11 ERROR could not restore the schedule\nTraceback (most recent call last):\n  File "/srv/fit.py", line 40, in restore\n'
          "    schedule = saved['warmup']\nKeyError: 'warmup'\n09:10:11 ERROR starting afresh\n")
GIVEN_UP = "RuntimeError: no answer of the feature service"
FRAMES = "".join(f"rank 2 has no frame for {seconds} s\n" for seconds in (2, 4, 6, 8))
BAR = "fit:  62%|######2   | {}/8 [00:01<00:00,  4.09it/s]\n"
# A restart of torchrun: the failure without the closing list, then steps again.
RESTARTED = STEPS + gave_up(1, "ConnectionResetError: [Errno 104] Connection reset by peer") + stopping(4711) + failed(1, 1, 4712)

SPAWNED = ("torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
           'Traceback (most recent call last):\n  File "/srv/fit.py", line 17, in worker\n    dist.init_process_group("gloo", rank=rank)\n'
           "torch.distributed.DistStoreError: wait timeout after 9000ms, keys: /default_pg/0//cpu//0/0\n")

CASES = [
    # ---- who did not come
    Case("gloo_other_line", {"out.log": STEPS + gave_up(0, WAITED) + gave_up(1, WAITED, 47) + gave_up(2, WAITED) + torchrun((0, 1), (1, -15), (2, -15))},
         [1], r"another call \(fit\.py:47\)"),
    Case("gloo_every_line_differs", {f"rank{r}.log": gave_up(r, WAITED, 40 + r) for r in range(3)}, [], "gloo timeout"),
    Case("gloo_other_of_two", {"rank0.log": STEPS + "uploading\n", "rank1.log": STEPS + gave_up(1, WAITED)}, [0], r"Rank 0 did not take part.*fit\.py:40"),
    Case("gloo_only_quiet", {f"rank{r}.log": STEPS + (gave_up(r, CLOSED) if r != 1 else "") for r in range(3)}, [1], "ended and printed no error"),
    Case("gloo_two_quiet", {f"rank{r}.log": STEPS + (gave_up(r, CLOSED) if r in (0, 3) else "") for r in range(4)}, [], ""),
    Case("gap_in_the_list", {"out.log": STEPS + gave_up(0, CLOSED) + gave_up(2, CLOSED) + torchrun((0, 1), (2, 1))}, [1], "Rank 1 ended"),
    Case("host_of_the_store", {"out.txt": SPAWNED}, [], "Not all ranks joined.*address of rank 0"),
    Case("gloo_only_quiet_after_logged", {f"rank{r}.log": STEPS + (LOGGED + gave_up(r, CLOSED) if r != 1 else "") for r in range(3)},
         [1], "ended and printed no error"),
    Case("logged_before_cleaning_up", {"rank0.log": STEPS + gave_up(0, CLOSED), "rank1.log": STEPS + LOGGED + gave_up(1, CLOSED, 60)}, [1], "warmup"),
    Case("gloo_store_is_gone", {f"rank{r}.log": STEPS + (gave_up(r, "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was "
                                                                    "likely closed. Did the remote server shutdown or crash?") if r else "")
                                for r in range(3)}, [0], "ended and printed no error"),
    Case("gloo_only_alive", {"rank0.log": gave_up(0, WAITED), "rank1.log": gave_up(1, GIVEN_UP), "rank2.log": gave_up(2, GIVEN_UP, 44),
                             "rank3.log": "waiting for shard 7\n"}, [3], "Rank 3 did not take part where rank 0 timed out; ranks 1-2 gave up"),
    Case("repeats_itself", {"rank0.log": gave_up(0, WAITED), "rank1.log": "ready\n", "rank2.log": "ready\n" + FRAMES,
                            "out.log": torchrun((0, 1), (1, -15), (2, -15))}, [2], "Rank 2 printed one line over and over.*no frame for"),
    Case("interrupted_alone", {"rank0.log": STEPS + gave_up(0, CLOSED), "rank1.log": STEPS + gave_up(1, "KeyboardInterrupt"),
                               "rank2.log": STEPS + gave_up(2, CLOSED)}, [1], "KeyboardInterrupt"),
    # ---- names that tell no rank: gloo numbers the processes
    Case("gloo_numbers", {f"w{r}_k{'xqz'[r]}4.txt": CONNECTED.format(r) + (gave_up(r, WAITED) if r != 1 else "") for r in range(3)},
         [1], "Rank 1 did not take part"),
    # ---- what stood in a buffer is written behind the exception, and a bar is drawn again
    Case("steps_behind", {f"rank{r}.log": gave_up(r, CLOSED if r else "ValueError: bad crop") + STEPS for r in range(2)}, [0], "bad crop"),
    Case("bar_behind", {"rank0.log": BAR.format(4) + gave_up(0, "ValueError: bad crop") + "\n" + BAR.format(5), "rank1.log": gave_up(1, CLOSED),
                        "out.log": torchrun((0, 1), (1, -15))}, [0], "bad crop"),
    # ---- calls that do not match
    Case("gloo_size", {"out.log": STEPS + ENFORCE + gave_up(0, CLOSED) + torchrun((1, -6), (0, -15))}, [], "Rank 1 received 96 bytes where it expected 48"),
    Case("gloo_size_and_line", {"out.log": STEPS + ENFORCE + gave_up(0, CLOSED) + gave_up(2, CLOSED) + gave_up(3, CLOSED, 61) +
                                torchrun((1, -6), (0, -15), (2, -15), (3, -15))}, [3], r"Rank 3 waited in another call.*Rank 1 received 96 bytes"),
    Case("fingerprint_in_pieces", {"out.log": mismatch(0, "", 2, "SequenceNumber=0OpType=GATHER") + mismatch(1, "", 2, "SequenceNumber=0OpType=GATHER") +
                                   mismatch(2, 5, 0, "SequenceNumber=0OpType=ALLGATHER")}, [2], r"Rank 2 called all_reduce 7 of shape \[5\].*of a scalar"),
    # ---- what is not here
    Case("error_elsewhere", {"launcher.log": torchrun((2, 1), (0, -15), (1, -15))}, [], "no error output of it is here"),
    Case("cut_in_text_of_all", {"out.log": STEPS + gave_up(0, CLOSED) + "".join(gave_up(2, WAITED).splitlines(True)[:5])}, [], "."),
    Case("named_before_cut", {"out.log": STEPS + gave_up(2, "ValueError: bad crop") + "".join(gave_up(1, WAITED).splitlines(True)[:5])}, [2], "bad crop"),
    # ---- where and who
    Case("line_of_the_program", {"out.log": marked("[rank0]: ", INNER + OUTER) + torchrun((0, 1), (1, -15))}, [0], r"length 6 at fit\.py:52"),
    Case("addresses_differ", {"out.log": gave_up(0, PICKLE.format(11)) + gave_up(1, PICKLE.format(22)) + torchrun((0, 1), (1, 1))}, [0, 1], "PicklingError"),
    Case("interrupted_launcher", {"out.log": STEPS + "torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 2\n"},
         [], r"told to stop by SIGINT \(signal 2\)"),
    Case("printed_and_went_on", {f"rank{r}.log": CONNECTED.format(r) + LOGGED + "report skipped\n" for r in range(3)}, healthy=True),
    Case("printed_before_the_end", {"out.log": LOGGED + "".join(f"worker {r} takes over\n" for r in range(7)) + "worker 1 finished\n"}, healthy=True),
    Case("unmarked_and_uploaded", {"rank0.log": CONNECTED.format(0) + STEPS + trace("KeyError: 'warmup'") + "wandb: Find logs at: ./wandb/run-1\n"},
         [0], "warmup"),
    Case("a_peer_got_over_it", {"rank0.log": LOGGED + "Training complete, best step 7\n", "rank1.log": LOGGED}, healthy=True),
    Case("end_in_the_other_text", {"rank0.out": "rank 0 finished\n", "rank0.err": LOGGED}, healthy=True),
    # PyTorch's mark is missing, but the program says itself that it gives up.
    Case("printed_and_exits", {f"rank{r}.log": CONNECTED.format(r) + LOGGED + "exiting after an error\n" for r in range(3)}, [0, 1, 2], "warmup"),
    Case("went_on", {"out.log": RESTARTED + STEPS}, healthy=True),
]
