"""Runs commands one after the other, and tells what the operating system says about each.

Python, since Node can't ask for the resources of one child, and since a process that is forked from a large one is counted as large as that:
this one has 10 MB, which is the least that can be told. For each line of JSON,
{"argv","env","stdout","stderr","seconds"}, it prints {"ms","cpuMs","peakMb","code"} or {"error"}. A pipeline in a shell
counts as its longest, its sum and its largest process.
"""
import json
import os
import signal
import sys
import time

child = 0
timed_out = False


def stop(number, _):
    global timed_out
    timed_out = True
    if child:
        os.killpg(child, signal.SIGKILL)
    if number != signal.SIGALRM:
        os._exit(130)


def run(task):
    global child, timed_out
    timed_out = False
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
    paths = [os.devnull, task["stdout"], task["stderr"]]
    files = [(os.POSIX_SPAWN_OPEN, number, path, flags, 0o600) for number, path in enumerate(paths)]
    argv = task["argv"]
    started = time.perf_counter()
    child = os.posix_spawnp(argv[0], argv, task["env"], file_actions=files, setpgroup=0)
    signal.alarm(task["seconds"])
    _, status, used = os.wait4(child, 0)
    ended = time.perf_counter()
    signal.alarm(0)
    child = 0
    if timed_out:
        return {"error": "not done within %d s" % task["seconds"]}
    return {
        "ms": (ended - started) * 1000,
        "cpuMs": (used.ru_utime + used.ru_stime) * 1000,
        "peakMb": used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "code": os.waitstatus_to_exitcode(status),
    }


for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, stop)
for line in sys.stdin:
    try:
        result = run(json.loads(line))
    except OSError as error:
        result = {"error": "not installed" if isinstance(error, FileNotFoundError) else str(error)}
    print(json.dumps(result), flush=True)
