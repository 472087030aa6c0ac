"""Runs commands one after the other, and measures each of them by the operating system's figures.

It is in Python, since Node can't get the resource usage of a single child. A child's peak memory is at least that of the
process that forked it, here 10 MB, so smaller values can't be measured. For each line of JSON,
{"argv","env","stdout","stderr","seconds"}, it prints {"ms","cpuMs","peakMb","code"} or {"error"}. For a pipeline in a
shell, these are the time of the longest process, the CPU time of all, and the memory of the largest.
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
