"""Commands of an installation that replace the Python of the environment which it fills."""

REPLACING = {
    "executable": "cp --remove-destination $(readlink -f $VIRTUAL_ENV/bin/python) $VIRTUAL_ENV/bin/python",
    "library": (
        "b=$(dirname $(dirname $(readlink -f $VIRTUAL_ENV/bin/python))) && mkdir -p $VIRTUAL_ENV/other/bin && "
        "ln -s $b/lib $VIRTUAL_ENV/other/lib && ln -s $b/bin/python3* $VIRTUAL_ENV/other/bin/ && "
        "sed -i s,^home.*,home=$VIRTUAL_ENV/other/bin, $VIRTUAL_ENV/pyvenv.cfg"
    ),
}
"""Commands of an installation that go unnoticed by what is installed afterwards."""
