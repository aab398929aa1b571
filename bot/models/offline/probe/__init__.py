"""The probe: a program that runs inside the sandbox and finds inputs worth a test.

Standard library only, Python 3.9 and later. `explore.py` sends the text of these files into the sandbox, where they
are the package `testforge_probe`; nothing of testforge itself is there.

    job       what is asked: the module, its source, budgets, examples, mutants that survived
    surface   what a person could call: functions, classes, methods, `operators`; with their `signatures`
    inputs    texts of `values` for a parameter, from `annotations`, names, `literals` of the code, regexes and examples
    focus     what of a module was changed, and which functions lead there
    programs  a case: given, when, and its text
    examples  cases from docstrings and from the repository's own tests
    mining    programs in the repository's tests and documents; `statements` are what they are made of
    entries   the mined programs as cases, and the package's functions that take text
    trial     the mined programs' first run, in processes of their own
    guard     what is never called, and limits
    ambience  chance, clocks, environment and places of files, made to follow from a number
    watching  the module with counters woven in: lines, branches, comparisons, steps
    running   runs one case with its names (`names`, `evaluation`), and puts the module's globals back (`state`);
              coroutines on a loop whose time passes at once (`looping`)
    observing tells what a case gave (`outcomes`); `comparing` says whether it gives the same again
    telling   a value as an expression a person could have written
    faults    small faults, as cosmic-ray's operators make them
    judging   which case tells which fault from the real code
    search    makes calls (`calling`), varies those that show something new (`varying`; `tweaking` changes a literal) and
              looks into what they give (`following`)
    inverses  operations that undo each other, as round trips
    choosing  the fewest, simplest cases with all the evidence
    shrinking chosen cases cut down to what their evidence needs
    proving   the chosen ones again, elsewhere: another process, hash seed and clock
    printing  rows for the reader; a `legend` says what many of them show
"""
