"""GitHub and GitLab: where a summary goes, where comments are written, what marks a line of the log.

A comment has a mark that is not shown; the next run finds its own comment by it and changes it, so that a pull request has one
of each name. Tokens are sent to the address that the system itself names, and are never printed.
"""
import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path

TIMEOUT_S = 30
PAGES, A_PAGE = 20, 100


class Trouble(Exception):
    """Something that the system refused, in a sentence."""


def request(method, url, headers, body=None):
    """The answer as JSON."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json", "User-Agent": "debrief", **headers}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise Trouble(f"{method} {url}: {error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        raise Trouble(f"{method} {url}: {error}") from error


def mark(name):
    return f"<!-- debrief: {re.sub(r'[^A-Za-z0-9_. -]', '_', name)} -->"


def cut(text, most):
    """At a line, with a word about it: systems refuse longer ones."""
    if len(text) <= most:
        return text
    kept = text[:most - 200].rpartition("\n")[0]
    closing = "</details>\n" * (kept.count("<details>") - kept.count("</details>"))
    return f"{kept}\n\n{closing}\n_Cut here: the whole answer is in the summary and in the report._\n"


class Forge:
    """What both have: comments are a list that can be read page by page, added to and changed."""
    most = 60_000

    def upsert(self, text, name):
        """Writes the comment of that name, or changes it where there is one."""
        body = {"body": cut(f"{mark(name)}\n{text}", self.most)}
        for number in range(1, PAGES + 1):
            listed = request("GET", f"{self.comments}?per_page={A_PAGE}&page={number}", self.headers)
            for comment in listed:
                if str(comment.get("body", "")).startswith(mark(name)):
                    return request(self.change, self.address_of(comment), self.headers, body)
            if len(listed) < A_PAGE:
                break
        return request("POST", self.comments, self.headers, body)


class GitHub(Forge):
    change = "PATCH"

    def __init__(self, environment):
        self.environment = environment
        path = environment.get("GITHUB_EVENT_PATH", "")
        self.event = json.loads(Path(path).read_text()) if path and os.path.exists(path) else {}
        self.api = f"{environment.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{environment.get('GITHUB_REPOSITORY', '')}"
        self.headers = {"Authorization": f"Bearer {environment.get('DEBRIEF_TOKEN', '')}", "Accept": "application/vnd.github+json"}

    @property
    def number(self):
        """Of the pull request or issue; None where the event is of neither."""
        for kind in ("pull_request", "issue"):
            if found := self.event.get(kind, {}).get("number"):
                return found
        return None

    @property
    def comments(self):
        return f"{self.api}/issues/{self.number}/comments"

    def address_of(self, comment):
        return f"{self.api}/issues/comments/{comment['id']}"

    def summary(self, text):
        if path := self.environment.get("GITHUB_STEP_SUMMARY"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(cut(text, 1_000_000) + "\n")

    def outputs(self, values):
        """One line each: a value cannot become another output."""
        if path := self.environment.get("GITHUB_OUTPUT"):
            with open(path, "a", encoding="utf-8") as file:
                file.writelines(f"{name}={' '.join(str(value).split())}\n" for name, value in values.items())

    def annotate(self, level, text):
        """A command to the runner: what could end it or begin another is written as the runner wants it."""
        words = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::{ {'error': 'error', 'warning': 'warning'}.get(level, 'notice')} title=debrief::{words}")


class GitLab(Forge):
    change, most = "PUT", 900_000

    def __init__(self, environment):
        self.environment = environment
        self.number = environment.get("CI_MERGE_REQUEST_IID")
        project = f"{environment.get('CI_API_V4_URL', '')}/projects/{environment.get('CI_PROJECT_ID', '')}"
        self.comments = f"{project}/merge_requests/{self.number}/notes"
        self.headers = {"PRIVATE-TOKEN": environment.get("DEBRIEF_TOKEN", "")}

    def address_of(self, comment):
        return f"{self.comments}/{comment['id']}"

    def summary(self, text):
        Path("debrief.md").write_text(text, encoding="utf-8")

    def outputs(self, values):
        """A dotenv report: variables of later jobs."""
        lines = (f"DEBRIEF_{name.upper()}={' '.join(str(value).split())}\n" for name, value in values.items())
        Path("debrief.env").write_text("".join(lines), encoding="utf-8")

    def annotate(self, level, text):
        print(f"debrief: {level}: {text}")


class Nowhere(GitLab):
    """On a desk: files in the folder, no comments."""

    def __init__(self, environment):
        super().__init__(environment)
        self.number = None


def forge_of(environment):
    if environment.get("GITHUB_ACTIONS") == "true":
        return GitHub(environment)
    return GitLab(environment) if environment.get("GITLAB_CI") == "true" else Nowhere(environment)
