"""Errors, with the messages and places that the command line shows."""

from __future__ import annotations

from typing import Any


class OverflowWarning(UserWarning):
    """Numbers of a learner's program were too large for their types and wrapped around: the answer is seldom what was meant."""


class LugeError(ValueError):
    """Why a request is refused.

    ``headline`` says it in a line. If a text was read, ``name`` and ``text`` are that text, and ``findings`` lists what is wrong
    with it: dictionaries with ``message``, ``label``, ``help``, ``line``, ``column`` (both counted from 1), ``span`` (bytes) and
    ``warning``.
    """

    def __init__(
        self, headline: str, name: str | None = None, text: str | None = None, findings: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(headline, name, text, findings)
        self.headline, self.name, self.text, self.findings = headline, name, text, findings or []

    def __str__(self) -> str:
        return "\n".join([self.headline, *(self._shown(finding) for finding in self.findings)])

    def _shown(self, finding: dict[str, Any]) -> str:
        lines = [f"  {self.name}:{finding['line']}:{finding['column']}: {finding['message']}"]
        source = (self.text or "").splitlines()
        if 0 < finding["line"] <= len(source):
            line = source[finding["line"] - 1]
            start, end = finding["span"]
            marked = (self.text or "").encode()[start:end].decode(errors="replace").split("\n")[0]
            lines += [f"    {line}", "    " + " " * (finding["column"] - 1) + "^" * max(len(marked), 1) + " " + finding["label"]]
        if finding["help"]:
            lines.append(f"    help: {finding['help']}")
        return "\n".join(line.rstrip() for line in lines)
