"""Simulates a training job of several ranks and writes the profiles that PyTorch's profiler would have left of it.

    job = DataParallel(ranks=4, steps=6)
    job.gpu[3] = 1.3                       # kernels of rank 3 take 1.3 times as long
    profiles = job.run()                   # what happened
    profiles.write(folder)                 # profile_rank0.json ...
    profiles.step_ns()                     # mean step

Hosts launch, streams run one piece of work after another, a collective ends when its last member has come. So what a fault costs is known: the same job
is run without it. Nothing of debrief's is used here. Times are nanoseconds.
"""
import json
import random

US, MS = 1_000, 1_000_000
COMPUTE, COMMUNICATION, SEND, RECEIVE = 7, 20, 32, 31  # streams
DATA = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


class Work:
    """A piece of work on a device; without `meets` it takes `takes`, else that from the last arrival on."""

    def __init__(self, name, stream, ready, takes, after, meets=None, about=None, category="kernel"):
        self.name, self.stream, self.ready, self.takes, self.after = name, stream, ready, takes, [work for work in after if work]
        self.meets, self.about, self.category, self.start, self.end = meets, about or {}, category, None, None
        self.correlation = self.step = None


class Rank:
    """The host of one rank: a program in order, and what it has put on its device."""

    def __init__(self, number, job):
        self.number, self.job, self.now, self.calls, self.works, self.last, self.waits = number, job, 0, [], [], {}, {}
        self.steps, self.correlation = [], 0

    def slice(self, category, name, takes, **args):
        self.calls.append((category, name, self.now, self.now + takes, args))
        self.now += takes

    def call(self, name):
        self.correlation += 1
        self.slice("cuda_runtime", name, 4 * US, correlation=self.correlation)

    def launch(self, name, stream, takes, host, meets=None, about=None, category="kernel", call="cudaLaunchKernel"):
        begin = self.now
        self.now += host
        self.call(call)
        work = Work(name, stream, self.now + 2 * US, takes, [self.last.get(stream), *self.waits.pop(stream, [])], meets, about, category)
        work.correlation, work.step = self.correlation, self.steps[-1][0]
        self.last[stream] = work
        self.works.append(work)
        self.calls.append(("cpu_op", "record_param_comms" if meets else "aten::mm", begin, self.now, about or {}))
        if meets:
            self.job.meetings.setdefault(meets, []).append(work)

    def order(self, stream, behind):
        """Work of `stream` waits for what `behind` has now."""
        self.call("cudaEventRecord")
        self.call("cudaStreamWaitEvent")
        self.waits.setdefault(stream, []).append(self.last.get(behind))

    def begin_step(self, number):
        self.steps.append([number, self.now, None])

    def end_step(self):
        """The loss is read, for which the host waits. Returns once it is known when that is (a generator: others go on meanwhile)."""
        if self.job.reads_loss:
            self.launch("Memcpy DtoH (Device -> Pageable)", COMPUTE, 2 * US, 5 * US, category="gpu_memcpy", call="cudaMemcpyAsync")
            while any(work.end is None for work in self.works):
                yield
            self.slice("cuda_runtime", "cudaStreamSynchronize", max(max(work.end for work in self.works) - self.now, 0) + 4 * US)
        self.now += 4 * US
        self.steps[-1][2] = self.now
        self.now += 2 * US


class Job:
    """What is common to all kinds of jobs. `noise`: of all durations; the same for the same job with other faults."""

    def __init__(self, ranks, steps, noise=0.02, seed=1):
        self.size, self.step_count, self.noise, self.seed = ranks, steps, noise, seed
        self.gpu = dict.fromkeys(range(ranks), 1.0)  # or a function of the step
        self.before = lambda rank, step: None        # what the host does besides: before(rank, step)
        self.reads_loss = True                       # hosts wait for their devices at the end of a step, and run ahead of them where not
        self.meetings, self.kernel_ns, self.host_ns, self.wire_ns, self.data_ns = {}, 400 * US, 15 * US, 1500 * US, 500 * US

    def about(self, *what):
        return max(0.9, 1 + self.noise * random.Random(repr((self.seed, *what))).gauss(0, 1))

    def kernel(self, rank, step, place, times=1.0):
        speed = self.gpu[rank.number]
        return int(self.kernel_ns * times * (speed(step) if callable(speed) else speed) * self.about(rank.number, step, place))

    def collective(self, rank, op, name, group, ranks, number, stream, wire_ns, peer=None):
        about = {"Collective name": op, "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "Group size": len(ranks), "dtype": "Float",
                 "Process Group Name": name, "Process Group Description": group, "Process Group Ranks": json.dumps(list(ranks))}
        if peer is not None:
            about["Dst Rank" if op == "send" else "Src Rank"] = peer
        channel = (name, number) if peer is None else (name, min(rank.number, peer), (op == "send") == (rank.number < peer), number)
        kernel = {"allreduce": "AllReduce_Sum_f32_RING_LL", "send": "SendRecv", "recv": "SendRecv"}[op]
        rank.launch(f"ncclDevKernel_{kernel}", stream, wire_ns, self.host_ns, (len(ranks) if peer is None else 2, channel), about, call="cudaLaunchKernelExC")

    def settle(self):
        """Times of all work that can be told by now."""
        moved = True
        while moved:
            moved = False
            for rank in self.ranks:
                for work in rank.works:
                    if work.start is None and all(each.end is not None for each in work.after):
                        work.start, moved = max([work.ready] + [each.end + US for each in work.after]), True
                    if work.end is None and work.start is not None and not work.meets:
                        work.end, moved = work.start + work.takes, True
            for (size, _), members in self.meetings.items():
                if len(members) == size and members[0].end is None and all(work.start is not None for work in members):
                    end, moved = max(work.start for work in members) + max(work.takes for work in members), True
                    for work in members:
                        work.end = end

    def run(self):
        self.ranks = [Rank(number, self) for number in range(self.size)]
        programs = [self.program(rank) for rank in self.ranks]
        while programs:
            programs = [program for program in programs if next(program, self) is not self]
            self.settle()
        return self

    def program(self, rank):
        for step in range(4, 4 + self.step_count):
            rank.begin_step(step)
            rank.slice("user_annotation", DATA, self.data_ns)
            self.before(rank, step)
            self.step(rank, step)
            yield from rank.end_step()

    def step_ns(self):
        return (max(work.end for rank in self.ranks for work in rank.works) - min(rank.steps[0][1] for rank in self.ranks)) / self.step_count

    # ---- Files.

    def write(self, folder, left_out=None, **changes):
        """`left_out`: steps by rank that were not recorded; `changes`: of what the file says besides its events."""
        folder.mkdir(parents=True, exist_ok=True)
        for rank in self.ranks:
            info = {"backend": "nccl", "rank": rank.number, "world_size": self.size}
            document = {"schemaVersion": 1, "distributedInfo": info, "baseTimeNanoseconds": 1_765_000_000_000_000_000, **changes}
            document["traceEvents"] = list(self.events(rank, (left_out or {}).get(rank.number, ())))
            (folder / f"profile_rank{rank.number}.json").write_text(json.dumps(document))

    def events(self, rank, left_out):
        def event(category, name, tid, start, end, pid=1000 + rank.number, **args):
            return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, "dur": (end - start) / 1000, "args": args}

        hidden = [(begin, end) for number, begin, end in rank.steps if number in left_out]
        for number, begin, end in rank.steps:
            if number not in left_out:
                yield event("user_annotation", f"ProfilerStep#{number}", 1, begin, end)
        for category, name, start, end, args in rank.calls:
            if not any(begin <= start < behind for begin, behind in hidden):
                yield event(category, name, 1, start, end, **args)
        for work in rank.works:
            if work.step not in left_out:
                yield event(work.category, work.name, work.stream, work.start, work.end, rank.number % 8, device=rank.number % 8, stream=work.stream,
                            correlation=work.correlation, **work.about)


class DataParallel(Job):
    """Forward, backward with an all_reduce behind every other layer, optimizer."""

    layers = 6

    def step(self, rank, step):
        for layer in range(self.layers):
            rank.launch("gemm", COMPUTE, self.kernel(rank, step, ("forward", layer)), self.host_ns)
        for layer in range(self.layers):
            rank.launch("gemm_backward", COMPUTE, self.kernel(rank, step, ("backward", layer), 2), self.host_ns)
            if layer % 2:
                rank.order(COMMUNICATION, COMPUTE)
                self.collective(rank, "allreduce", "0", "default_pg", range(self.size), (step, layer), COMMUNICATION,
                                int(self.wire_ns * self.about(step, layer)))
        rank.order(COMPUTE, COMMUNICATION)
        rank.launch("adam", COMPUTE, self.kernel(rank, step, "adam"), self.host_ns)


class Pipeline(Job):
    """Stages by `rank % stages`, one forward and one backward at a time; replicas reduce gradients at the end."""

    def __init__(self, ranks, steps, stages=4, batches=6, **more):
        super().__init__(ranks, steps, **more)
        self.stages, self.batches, self.stage_times = stages, batches, {}

    def part(self, rank, step, batch, way, source, target, times):
        stage = rank.number % self.stages
        if source is not None:
            self.move(rank, "recv", source, (step, batch))
            rank.order(COMPUTE, RECEIVE)
        rank.launch(f"gemm_{way}", COMPUTE, self.kernel(rank, step, (way, batch), times * self.stage_times.get(stage, 1)), self.host_ns)
        if target is not None:
            rank.order(SEND, COMPUTE)
            self.move(rank, "send", target, (step, batch))

    def move(self, rank, op, peer, number):
        pair = sorted((rank.number, peer))
        self.collective(rank, op, f"pp{pair[0]}", "mesh_pp", pair, number, SEND if op == "send" else RECEIVE, 50 * US, peer)

    def step(self, rank, step):
        stage = rank.number % self.stages
        before, behind = rank.number - 1 if stage > 0 else None, rank.number + 1 if stage < self.stages - 1 else None
        warm_up = min(self.stages - 1 - stage, self.batches)
        order = [("forward", batch) for batch in range(warm_up)]
        for batch in range(self.batches):
            order += [("forward", warm_up + batch)] if warm_up + batch < self.batches else []
            order.append(("backward", batch))
        for way, batch in order:
            ends = (before, behind, 1) if way == "forward" else (behind, before, 2)
            self.part(rank, step, batch, way, *ends)
        members = range(stage, self.size, self.stages)
        if len(members) > 1:
            rank.order(COMMUNICATION, COMPUTE)
            self.collective(rank, "allreduce", f"dp{stage}", "mesh_dp", members, step, COMMUNICATION, self.wire_ns)
            rank.order(COMPUTE, COMMUNICATION)
        rank.launch("adam", COMPUTE, self.kernel(rank, step, "adam"), self.host_ns)
