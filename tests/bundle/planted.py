"""A job with secrets of many kinds in every format, and how to look for them in a bundle."""
import gzip
import io
import json
import pickle
import subprocess
import tarfile
import zipfile
import zlib

# kind: (how it stands in a text, what of it must be gone)
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAwq7PlantedPemBodyLineOne\nQw==PlantedPemTail9\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
SECRETS = {
    "Hugging Face": ("downloading with hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345", "hf_AbCdEfGhIjKl"),
    "GitHub": ("cloned by ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
    "GitHub, fine-grained": ("github_pat_11ABCDEFG0abcdefghijkl_0123456789", "github_pat_11ABC"),
    "GitLab": ("glpat-ZZplantedGitlab_0123", "ZZplantedGitlab"),
    "AWS key id": ("using AKIAIOSFODNN7PLANTED", "AKIAIOSFODNN7"),
    "AWS secret": ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiPLANTED", "wJalrXUtnFEMI"),
    "Google": ("key=AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSyA123456"),
    "Google OAuth": ("ya29.a0AfH6SMBplantedplantedplanted", "a0AfH6SMB"),
    "Slack": ("xoxb-1234567890-plantedSlackToken", "plantedSlackToken"),
    "Slack webhook": ("https://hooks.slack.com/services/T00000000/B00000000/plantedHookXXXX", "plantedHookXXXX"),
    "web token": (f"cookie {JWT} sent", "dozjgNryP4J3jVmNHl0w5N"),
    "OpenAI": ("sk-proj-abcDEF0123456789plantedOpenAi", "plantedOpenAi"),
    "Anthropic": ("sk-ant-api03-plantedAnthropicKey0123456789", "plantedAnthropicKey"),
    "NVIDIA": ("nvapi-plantedNvidiaKey_0123456789", "plantedNvidiaKey"),
    "Weights & Biases": ("export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
    "private key": (PEM, "PlantedPemBodyLineOne"),
    "end of a private key": (PEM, "PlantedPemTail9"),
    "address with a password": ("git clone https://bob:plantedUrlPass@git.corp.example/x.git", "plantedUrlPass"),
    "database": ("postgres://svc:planted/Db$Pass@db7.corp.internal:5432/x", "Db$Pass"),
    "bearer": ("curl -H 'Authorization: Bearer plantedBearer0123456789'", "plantedBearer"),
    "basic": ("Authorization: Basic cGxhbnRlZDpwYXNzd29yZA==", "cGxhbnRlZDpwYXNz"),
    "password in env": ("DB_PASSWORD=planted,Env;Pass!1", "planted,Env;Pass!1"),
    "password in YAML": ("password: planted yaml pass phrase", "planted yaml pass"),
    "password on a command line": ("mysql --password plantedFlagPass -h x", "plantedFlagPass"),
    "secret in a query": ("GET /x?sig=plantedSig%2F0123456&page=2", "plantedSig"),
    "netrc": ("machine api.corp.example login me password plantedNetrcPass", "plantedNetrcPass"),
    "Azure": ("AccountName=x;AccountKey=plantedAzure0123456789+/==;Suffix=y", "plantedAzure0123"),
    "pod": ("- name: DB_PASSWORD\n  value: plantedPodPass", "plantedPodPass"),
    "Postgres": ("PGPASSWORD=plantedPgPass psql", "plantedPgPass"),
    "XML": ("<password>planted xml pass</password>", "planted xml pass"),
    "block of YAML": ("db:\n  password: |\n    plantedBlockPass\n  port: 1", "plantedBlockPass"),
    "curl": ("curl -u me:plantedCurlPass http://x.example/", "plantedCurlPass"),
    "wandb login": ("wandb login fedcba9876543210fedcba9876543210fedcba98", "fedcba9876543210fedcba"),
    "API key in words": ("Enter your API key: planted0ApiKey", "planted0ApiKey"),
    "session": ("aws_session_token=IQoJplantedSession", "IQoJplantedSession"),
    "e-mail": ("mail alice.planted@corp-planted.example.org now", "alice.planted@"),
    "user in a path": ("File \"/home/aliceplanted/train.py\", line 3", "aliceplanted"),
    "user elsewhere": ("job of aliceplanted, run_aliceplanted_v2", "aliceplanted"),
    "user in a cache": ("/tmp/torchinductor_bobplanted/x", "bobplanted"),
    "host of NCCL": ("nodeplanted17:4711:4812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.40<0>", "nodeplanted17"),
    "full host name": ("connected to gpuplanted3.hpc.corp.internal:29500", "gpuplanted3"),
    "Slurm list": ("SLURM_JOB_NODELIST=dgxplanted[01-04,07]", "dgxplanted"),
    "member of the list": ("dgxplanted03: killed", "dgxplanted03"),
    "host in a public domain": ("gpuplanted01.train.example.com refused", "gpuplanted01"),
    "host of a cloud": ("ec2-3-4-5-6.compute-1.amazonaws.com", "ec2-3-4-5-6"),
    "host like a label": ("SLURMD_NODENAME=gpu1789", "gpu1789"),
    "torchrun's host": ("  host      : cnplanted042.hpc (local)", "cnplanted042"),
    "mapped IPv4": ("[::ffff:10.99.88.77]:29500", "10.99.88.77"),
    "JSON with escaped slashes": (r"\/home\/carolplanted\/x.py", "carolplanted"),
    "Windows": (r"C:\Users\daveplanted\x.py", "daveplanted"),
    "IPv4": ("peer 10.20.30.40 left", "10.20.30.40"),
    "IPv6": ("[fe80::d00d:beef:17]:29500 and 2001:470:1f0b:1:2:3:4:5", "fe80::d00d"),
    "IPv6 in full": ("2001:470:1f0b:1:2:3:4:5 answered", "2001:470:1f0b"),
}
JSON_SECRETS = {
    "JSON": ({"db_password": "planted\"Json'Pass"}, "Json'Pass"),
    "JSON, a number": ({"password": 998877665544}, "998877665544"),
    "JSON, nested": ({"config": json.dumps({"apiKey": "plantedNestedKey01"})}, "plantedNestedKey01"),
    "JSON, pretty": ({"client_secret": "plantedPretty"}, "plantedPretty"),
    "JSON, environment": ({"env": [{"name": "MY_TOKEN", "value": "plantedEnvToken1"}]}, "plantedEnvToken1"),
    "JSON, key": ({"private_key": PEM}, "PlantedPemBodyLineOne"),
}
KEPT = ["step 5 loss 2.31", "127.0.0.1", "eos_token: </s>", "num_tokens=4096", "nvidia-cublas-cu12==12.4.5.8", "std::vector", "12:34:56",
        "max_token: 512"]


def wanted_gone():
    return {**{kind: value[1] for kind, value in SECRETS.items()}, **{kind: value[1] for kind, value in JSON_SECRETS.items()}}


def plain_text():
    lines = [f"{text}\n" for text, _ in SECRETS.values()] + [f"{json.dumps(value)}\n" for value, _ in JSON_SECRETS.values()]
    return "".join(lines) + "\n".join(KEPT) + "\n"


def dump(rank):
    """A Flight Recorder dump in which the secrets are texts of frames and groups."""
    texts = [text for text, _ in SECRETS.values()] + [json.dumps(value) for value, _ in JSON_SECRETS.values()]
    frames = [{"name": text, "filename": f"/home/aliceplanted/{i}.py", "line": i} for i, text in enumerate(texts)]
    entry = {"frames": frames, "record_id": 0, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 1, "p2p_seq_id": 0,
             "op_id": 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 1763174555 * 10**9, "input_sizes": [[4096, 77]],
             "input_dtypes": ["Float"], "output_sizes": [[4096, 77]], "output_dtypes": ["Float"], "state": "completed",
             "time_discovered_started_ns": None, "time_discovered_completed_ns": None, "retired": True, "timeout_ms": 600000, "is_p2p": False}
    return {"version": "2.10", "entries": [entry], "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
            "pg_status": {"0": {"last_enqueued_collective": 1, "last_started_collective": 1, "last_completed_collective": 1}}}


def trace(rank):
    events = [{"ph": "X", "cat": "cpu_op", "name": text, "pid": 1, "tid": 1, "ts": i * 10, "dur": 5, "args": {"Input Dims": [[4096, 77]]}}
              for i, (text, _) in enumerate(SECRETS.values())]
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2, "backend": "nccl"},
            **{key: value for entry, _ in JSON_SECRETS.values() for key, value in entry.items()},
            "traceEvents": events}


def write_job(folder):
    (folder / "nodeplanted17").mkdir(parents=True)
    (folder / "rank0.log").write_text(plain_text())
    (folder / "nodeplanted17/rank1_aliceplanted.log").write_text("".join(f"[rank1]:{line}\n" for line in plain_text().splitlines()))
    with gzip.open(folder / "rank1.log.gz", "wt") as packed:
        packed.write(plain_text())
    for protocol in (0, 2, 4):
        (folder / f"nccl_trace_rank_{protocol // 2}").write_bytes(pickle.dumps(dump(protocol // 2), protocol=protocol))
    (folder / "dump_3.json").write_text(json.dumps(dump(3)))
    with gzip.open(folder / "trace_rank0.json.gz", "wt") as packed:
        json.dump(trace(0), packed)
    (folder / "trace_rank1.json").write_text(json.dumps(trace(1), indent=1))
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("logs/rank2.log", plain_text())
    (folder / "utf16.log").write_bytes(plain_text().encode("utf-16"))
    (folder / "id_rsa").write_text(PEM)
    (folder / "random.bin").write_bytes(b"\x00\x01\x02plantedBinary\xff" * 100)


def members(bundle):
    """Name and bytes of every member."""
    raw = subprocess.run(["zstd", "-dc", bundle], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


def all_bytes(bundle):
    """The bundle as it is, unpacked, and what in it is packed again."""
    yield "the file", bundle.read_bytes()
    for name, body in members(bundle).items():
        yield name, name.encode() + b"\n" + body
        if body[:2] == b"\x1f\x8b":
            yield name + ", unpacked", zlib.decompress(body, 31)
