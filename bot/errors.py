"""What can go wrong, as a small family: each message is one sentence or two that say what happened and what to do.

The command line turns a family member into one line on stderr and its exit code; nothing else of testforge
catches `TestforgeError` to hide it.
"""


class TestforgeError(Exception):
    """A problem with a cause that can be told to a person.

    Args:
        message: What happened and what to do, in plain sentences.
        detail: More for whoever looks into it (a log's last lines), shown below the message.
    """

    __test__ = False  # pytest would otherwise try to collect it wherever it is imported
    exit_code = 1
    status = "failed"

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class UsageError(TestforgeError):
    """The call or the configuration is wrong: no such path, unknown ref, an unknown key."""

    exit_code = 2


class RepositoryError(UsageError):
    """Git cannot answer: not a repository, an unknown ref, a shallow clone without the base."""


class InconclusiveError(TestforgeError):
    """The repository's code could not be installed or its tests could not be run."""

    exit_code = 3
    status = "inconclusive"


class InstallationError(InconclusiveError):
    """The dependencies could not be found or installed."""


class SandboxError(InconclusiveError):
    """The sandbox could not be made, or broke while it was used."""


class LostError(SandboxError):
    """The sandbox's container ended, or stopped answering, while it was used; a fresh one may do."""


class MeasureError(InconclusiveError):
    """Tests ran, but what they did could not be measured: the guest gave no result."""


class ModelError(TestforgeError):
    """The model gave no usable reply, or none within its budget."""


class GitHubError(TestforgeError):
    """GitHub did not do what was asked of it, and asking again would not help now."""
