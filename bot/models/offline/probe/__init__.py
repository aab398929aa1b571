"""The probe: a program that runs inside the sandbox and finds inputs worth a test.

Standard library only, Python 3.9 and later. `explore.py` sends the text of these files into the sandbox, where they
are the package `testforge_probe`; nothing of testforge itself is there.

    job       what is asked: the module, its source, budgets, examples, mutants that survived
    surface   what a person could call: functions, classes, methods, operators
    inputs    texts of values for a parameter, from annotations, names, constants, regexes and examples
    focus     what of a module was changed, and which functions lead there
    programs  a case: given, when, and its text
    examples  cases from docstrings and from the repository's own tests
    mining    programs in the repository's tests and documents; `statements` are what they are made of
    entries   the mined programs as cases, and the package's functions that take text
    trial     the mined programs' first run, in processes of their own
    guard     what is never called, and limits
    watching  the module with counters woven in: lines, branches, comparisons, steps
    running   runs one case and tells what it gave (`outcomes`), with its names (`names`), and the module's globals put
              back (`state`); coroutines on a loop whose time passes at once (`looping`)
    telling   a value as an expression a person could have written
    faults    small faults, as cosmic-ray's operators make them
    judging   which case tells which fault from the real code
    search    varies cases that show something new; `tweaking` changes a literal
    inverses  operations that undo each other, as round trips
    choosing  the fewest, simplest cases with all the evidence
    shrinking chosen cases cut down to what their evidence needs
    proving   the chosen ones again, elsewhere: another process, hash seed and clock
    printing  rows for the reader
"""
