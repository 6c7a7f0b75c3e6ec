"""The YAML of action.yml and ci/gitlab.yml: maps, lists, block texts and plain or single-quoted values by indentation, and nothing else.

What it does not know it refuses, so that these files stay what it reads.
"""
import re

KEY = re.compile(r"([\w.-]+):(?: +(.*))?$")


class Reader:
    def __init__(self, text):
        self.lines = [line.rstrip() for line in text.splitlines()]
        self.at = 0

    def skip(self):
        while self.at < len(self.lines) and (not self.lines[self.at].strip() or self.lines[self.at].lstrip().startswith("#")):
            self.at += 1

    def indent(self):
        """Of the next line; -1 at the end."""
        self.skip()
        if self.at == len(self.lines):
            return -1
        line = self.lines[self.at]
        return len(line) - len(line.lstrip())

    def block(self, least):
        """What stands below, indented by at least `least`."""
        depth = self.indent()
        if depth < least:
            return ""
        return self.items(depth) if self.lines[self.at].lstrip().startswith("- ") else self.map(depth)

    def items(self, depth):
        found = []
        while self.indent() == depth and self.lines[self.at].lstrip().startswith("- "):
            line = self.lines[self.at]
            rest = line.lstrip()[2:]
            if KEY.match(rest) and not rest.startswith(("'", "if ")):
                self.lines[self.at] = " " * (depth + 2) + rest
                found.append(self.map(depth + 2))
            else:
                self.at += 1
                found.append(value(rest))
        return found

    def map(self, depth):
        found = {}
        while self.indent() == depth:
            match = KEY.match(self.lines[self.at].strip())
            assert match, f"line {self.at + 1} is no `key: value`: {self.lines[self.at]}"
            assert match[1] not in found, f"{match[1]} stands twice"
            self.at += 1
            found[match[1]] = self.text(depth) if match[2] == "|" else value(match[2]) if match[2] else self.block(depth + 1)
        assert self.indent() < depth, f"line {self.at + 1} is indented in its own way"
        return found

    def text(self, depth):
        start = self.at
        while self.at < len(self.lines) and (not self.lines[self.at].strip() or len(self.lines[self.at]) - len(self.lines[self.at].lstrip()) > depth):
            self.at += 1
        body = self.lines[start:self.at]
        cut = min(len(line) - len(line.lstrip()) for line in body if line)
        return "\n".join(line[cut:] for line in body) + "\n"


def value(text):
    if text.startswith("["):
        return [value(part.strip()) for part in text.strip("[]").split(",")]
    if text.startswith("'"):
        assert text.endswith("'") and len(text) > 1, text
        return text[1:-1].replace("''", "'")
    assert not text.startswith(('"', "&", "*", "{", ">", "!")) and ": " not in text, f"not of our kind of YAML: {text}"
    return text


def load(text):
    return Reader(text).block(0)
