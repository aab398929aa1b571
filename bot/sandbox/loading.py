"""Programs that run without the rest of testforge: in a container, or where a quick start matters.

Their modules are given names below `bot.sandbox`, so that they can import each other as they would here.
"""

from __future__ import annotations

import json
from pathlib import Path

_HERE = Path(__file__).parent
_LOAD = """
import sys
def load(texts):
    kind = type(sys)
    for name in ("bot", "bot.sandbox"):
        sys.modules[name] = kind(name)
    for name, text in texts:
        module = sys.modules["bot.sandbox." + name] = kind("bot.sandbox." + name)
        exec(compile(text, name, "exec"), vars(module))
    module.main()
"""
FROM_FILES = (
    _LOAD
    + """
place, *names = sys.argv.pop(1).split("\\n")
load([(name, open(place + "/" + name + ".py", encoding="utf-8").read()) for name in names])
"""
)
"""For `python -c`; the program's first argument is what `files` gives."""
FROM_INPUT = (
    _LOAD
    + """
import json
load(json.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline()))))
"""
)
"""For `python -c`; what comes first on standard input is what `texts` gives."""


def files(*modules: str) -> str:
    """Return what tells `FROM_FILES` the modules of a program, the one with its `main` last."""
    return "\n".join((str(_HERE), *modules))


def texts(*modules: str) -> bytes:
    """Return what gives `FROM_INPUT` the modules of a program, the one with its `main` last."""
    content = json.dumps([(module, (_HERE / f"{module}.py").read_text()) for module in modules]).encode()
    return b"%d\n%s" % (len(content), content)
