"""What a server that runs other people's code insists on."""

from __future__ import annotations

from bot.errors import UsageError
from bot.settings import Settings


def insist(operator: Settings) -> None:
    """See that code of pull requests will run in containers.

    Raises:
        UsageError: It would run without, and the operator has not said that this is wanted.
    """
    if operator.sandbox == "process" and not operator.allow_process_sandbox:
        raise UsageError(
            "A server does not run other people's code without a container. Unset TESTFORGE_SANDBOX, or set "
            "TESTFORGE_ALLOW_PROCESS_SANDBOX=1 if you trust everybody who can open a pull request."
        )
