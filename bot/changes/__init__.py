"""What changed: from a git diff to targets, and copies of the trees that it lies between."""

from bot.changes.copies import checkout, checkout_base, working_files
from bot.changes.exclusion import reason_by_content, reason_by_path
from bot.changes.layout import import_roots, module_name
from bot.changes.repository import find_root, head_of, project_of
from bot.changes.source import functions_of
from bot.changes.targets import configuration, read, whole_file

__all__ = [
    "checkout",
    "checkout_base",
    "configuration",
    "find_root",
    "functions_of",
    "head_of",
    "import_roots",
    "module_name",
    "project_of",
    "read",
    "reason_by_content",
    "reason_by_path",
    "whole_file",
    "working_files",
]
