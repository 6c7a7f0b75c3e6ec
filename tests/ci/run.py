#!/usr/bin/env python3
"""The GitHub Action and the GitLab template: their steps are run as those systems run them, with the variables they set.

usage: run.py --binary FILE

Steps are taken out of action.yml and ci/gitlab.yml, `${{ inputs.x }}` is filled in, and the shell lines run. Comments go to a
server of this test that answers as both do.
"""
import argparse
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import small_yaml  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ACTION = small_yaml.load((ROOT / "action.yml").read_text())
TEMPLATE = small_yaml.load((ROOT / "ci/gitlab.yml").read_text())[".debrief"]
HUNG, PROFILE = ROOT / "examples/hung-job", ROOT / "examples/two-rank-profile"


class Server(http.server.ThreadingHTTPServer):
    """Comments of one pull request, and attached files."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments, self.requests, self.files, self.refuses = [], [], {}, False
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, content, code=200):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        path = self.path.partition("?")[0]
        server.requests.append((self.command, path, dict(self.headers)))
        if path in server.files:
            return self.answer(server.files[path])
        if server.refuses:
            return self.answer({"message": "no"}, 403)
        if self.command == "GET":
            page = int(re.search(r"[?&]page=(\d+)", self.path)[1])
            return self.answer(server.comments[(page - 1) * 100:page * 100])
        if self.command == "POST":
            server.comments.append({"id": 1000 + len(server.comments), **body})
            return self.answer(server.comments[-1], 201)
        changed = next(comment for comment in server.comments if path.endswith(f"/{comment['id']}"))
        changed.update(body)
        return self.answer(changed)

    do_GET = do_POST = do_PATCH = do_PUT = handle_any

    def log_message(self, *unused):
        pass


class InCi(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)
        self.server = Server()
        (self.folder / "bin").mkdir()
        (self.folder / "bin/debrief").symlink_to(BINARY)
        # The library lies beside the program that runs, which is the one that the link leads to.
        self.path = f"{self.folder}/bin:{os.environ['PATH']}"
        shutil.copytree(HUNG, self.folder / "logs")

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.scratch.cleanup()

    def run_lines(self, script, environment):
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={"PATH": self.path, "HOME": str(self.folder), **environment})
        self.printed = done.stdout + done.stderr
        self.assertNotIn("secret", self.printed)
        return done.returncode


class OnGitHub(InCi):
    def event(self, content):
        path = self.folder / "event.json"
        path.write_text(json.dumps(content))
        return str(path)

    def act(self, event=None, **inputs):
        """The exit code of the action; every step that its `if` lets run."""
        values = {name: described.get("default", "") for name, described in ACTION["inputs"].items()}
        values.update({name.replace("_", "-"): value for name, value in inputs.items()}, token="secret")
        environment = {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_API_URL": self.server.address,
                       "GITHUB_SERVER_URL": self.server.address, "GITHUB_REPOSITORY": "me/train", "GITHUB_OUTPUT": str(self.folder / "output"),
                       "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_PATH": str(self.folder / "path"),
                       "GITHUB_EVENT_PATH": self.event(event or {"pull_request": {"number": 7}}), "RUNNER_TEMP": str(self.folder)}
        for step in ACTION["runs"]["steps"]:
            if "if" in step and not values[re.search(r"inputs\.([\w-]+) != ''", step["if"])[1]]:
                continue
            filled = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text) for name, text in step["env"].items()}
            if code := self.run_lines(step["run"], {**environment, **filled}):
                return code
        return 0

    def outputs(self):
        return dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())

    def test_a_job_that_failed(self):
        self.assertEqual(self.act(path="logs"), 3, self.printed)
        self.assertIn("Rank 5 skipped", (self.folder / "summary").read_text())
        outputs = self.outputs()
        self.assertEqual((outputs["severity"], outputs["ranks"], outputs["failed"]), ("error", "5", "true"))
        self.assertEqual(set(ACTION["outputs"]), set(outputs))
        self.assertIn("::error title=debrief::Rank 5 skipped", self.printed)
        self.assertTrue((self.folder / outputs["report"] / "index.html").exists())
        self.assertIn("Rank 5 skipped", self.server.comments[0]["body"])
        self.assertEqual({headers["Authorization"] for _, _, headers in self.server.requests}, {"Bearer secret"})

    def test_one_comment_a_name(self):
        self.server.comments = [{"id": number, "body": "of somebody"} for number in range(150)]
        for name in ("first", "second", "first"):
            self.act(path="logs", name=name, fail_on="none")
        ours = [comment["body"].splitlines()[0] for comment in self.server.comments if comment["body"].startswith("<!--")]
        self.assertEqual(ours, ["<!-- debrief: first -->", "<!-- debrief: second -->"])

    def test_a_healthy_run_passes(self):
        self.assertEqual(self.act(path=str(PROFILE)), 0, self.printed)
        self.assertEqual(self.outputs()["failed"], "false")
        self.assertNotIn("::error", self.printed)

    def test_levels(self):
        self.assertEqual(self.act(path="logs", fail_on="none"), 0, self.printed)
        self.assertEqual(self.act(path="logs", fail_on="worse"), 2)
        self.assertIn("choose from", self.printed)

    def test_against_a_baseline(self):
        self.assertEqual(self.act(path=str(HUNG), baseline=str(PROFILE), gates="new-warning\nnew-error", fail_on="none"), 3, self.printed)
        text = (self.folder / "summary").read_text()
        self.assertIn("## Compared with the baseline", text)
        self.assertIn("**Gate failed:**", text)
        self.assertEqual(self.act(path=str(PROFILE), baseline=str(PROFILE), gates="new-error"), 0, self.printed)
        self.assertEqual(self.act(path=str(PROFILE), baseline="not-there-yet", gates="new-error"), 0, self.printed)
        self.assertIn("There is no baseline yet", (self.folder / "summary").read_text())
        self.assertEqual(self.act(path=str(PROFILE), gates="new-error"), 2)

    def test_no_right_to_comment(self):
        self.server.refuses = True
        self.assertEqual(self.act(path=str(PROFILE)), 0)
        self.assertIn("the comment was not written", self.printed)
        self.server.requests.clear()
        self.act(event={"push": {}}, path=str(PROFILE))
        self.act(path=str(PROFILE), comment="false")
        self.assertFalse(self.server.requests)

    def test_settings_are_no_commands(self):
        self.assertEqual(self.act(path="$(touch hacked)`touch hacked`; touch hacked"), 2)
        self.assertEqual(self.act(path="--version"), 2)
        self.assertFalse((self.folder / "hacked").exists())
        (self.folder / "-o").mkdir()
        shutil.copytree(HUNG, self.folder / "-o/job")
        self.assertEqual(self.act(path="-o", fail_on="none"), 0, self.printed)

    def test_an_attached_log_is_answered(self):
        log = "".join(path.read_text() for path in sorted(HUNG.rglob("*.log"))[:1]) or (HUNG / os.listdir(HUNG)[0]).read_text(errors="replace")
        self.server.files = {"/user-attachments/files/1/rank 5.log".replace(" ", "%20"): log.encode(), "/me/train/files/2/empty.txt": b""}
        body = f"it hangs\n/debrief\n[log]({self.server.address}/user-attachments/files/1/rank%205.log) and http://127.0.0.2:1/user-attachments/files/3/x"
        self.assertEqual(self.act(event={"issue": {"number": 3}, "comment": {"id": 55, "body": body}}, path=" ", mode="answer"), 0, self.printed)
        self.assertEqual([path for method, path, _ in self.server.requests if path.startswith("/user")], ["/user-attachments/files/1/rank%205.log"])
        self.assertNotIn("Authorization", next(headers for _, path, headers in self.server.requests if path.startswith("/user")))
        self.assertTrue(self.server.comments[0]["body"].startswith("<!-- debrief: answer to comment 55 -->"))
        self.assertIn("debrief 0.", self.server.comments[0]["body"])
        self.assertNotIn(tempfile.gettempdir(), self.server.comments[0]["body"])

    def test_comments_that_do_not_ask_are_left_alone(self):
        for body, words in (("see debrief", 0), ("/debrief please", 1)):
            self.act(event={"issue": {"number": 3}, "comment": {"id": 1, "body": body}}, path=" ", mode="answer")
            self.assertEqual(len(self.server.comments), words)
        self.assertIn("No file is attached", self.server.comments[0]["body"])


class OnGitLab(InCi):
    def act(self, **variables):
        environment = {**TEMPLATE["variables"], "DEBRIEF_NAME": "what-happened", "DEBRIEF_HOME": str(ROOT), "GITLAB_CI": "true",
                       "CI_API_V4_URL": f"{self.server.address}/api/v4", "CI_PROJECT_ID": "12", "CI_MERGE_REQUEST_IID": "4", "DEBRIEF_TOKEN": "secret",
                       **variables}
        return self.run_lines("\n".join(TEMPLATE["before_script"] + TEMPLATE["script"]), environment)

    def test_a_job_that_failed(self):
        self.assertEqual(self.act(DEBRIEF_PATH="logs"), 3, self.printed)
        variables = dict(line.split("=", 1) for line in (self.folder / TEMPLATE["artifacts"]["reports"]["dotenv"]).read_text().splitlines())
        self.assertEqual((variables["DEBRIEF_RANKS"], variables["DEBRIEF_FAILED"]), ("5", "true"))
        self.assertIn("Rank 5 skipped", (self.folder / "debrief.md").read_text())
        self.act(DEBRIEF_PATH="logs", DEBRIEF_FAIL_ON="none")
        self.assertEqual(len(self.server.comments), 1)
        self.assertTrue(all(path.startswith("/api/v4/projects/12/merge_requests/4/notes") for _, path, _ in self.server.requests))
        self.assertEqual({headers["Private-Token"] for _, _, headers in self.server.requests}, {"secret"})

    def test_artifacts_are_there(self):
        self.assertEqual(self.act(DEBRIEF_PATH=str(PROFILE)), 0, self.printed)
        self.assertTrue((self.folder / TEMPLATE["variables"]["DEBRIEF_OUTPUT"] / "findings.json").exists())
        offers = "--junit" in subprocess.run([BINARY, "--help"], capture_output=True, text=True).stdout
        self.assertEqual((self.folder / TEMPLATE["artifacts"]["reports"]["junit"]).exists(), offers)


class Elsewhere(InCi):
    def test_on_a_desk(self):
        words = f"python3 {ROOT}/ci/debrief_ci.py check"
        self.assertEqual(self.run_lines(words, {"DEBRIEF_PATH": "logs"}), 3, self.printed)
        self.assertEqual(self.run_lines(words, {"DEBRIEF_PATH": "logs", "DEBRIEF": "/not/there"}), 1)
        self.assertIn("cannot start", self.printed)

    def test_long_answers_are_cut_at_a_line(self):
        sys.path.insert(0, str(ROOT / "ci"))
        import forge
        text = forge.cut("<details>\n" + "line\n" * 20000, 60_000)
        self.assertLess(len(text), 60_000)
        self.assertIn("</details>", text)
        self.assertEqual(forge.mark("a --> b"), "<!-- debrief: a --_ b -->")


def main():
    global BINARY
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    BINARY = os.path.abspath(options.binary)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=0)


main()
