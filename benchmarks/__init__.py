"""How fast, how good, and against what. `python -m benchmarks` lists and runs all; `python -m benchmarks NAME --json` one.

A benchmark is a module (or package) named in suite.BENCHMARKS with five things: ABOUT, what it measures in a sentence;
add_options(parser); SMOKE, the settings that only show that it runs; run(options) -> dict, all numbers, ready for JSON;
table(result) -> str, the same for people. The rest is for all of them: suite (the command line), tables (medians and spread), machine
(what it ran on), server (the page in a process of its own).
"""
