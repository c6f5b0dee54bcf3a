# The keeper of a runtime on the machine's own CPython; see keeper.ts for what it promises. It forks the process that runs
# the code before it hears the token, and cannot be looked into by it.
import asyncio
import ctypes
import json
import os
import resource
import select
import signal
import sys
import threading

MEMORY_POLL_S = 0.02
MAX_OUTCOME = 8 * 1024 * 1024
PAGE = os.sysconf("SC_PAGE_SIZE")
PR_SET_DUMPABLE = 4


def main():
    orders, to_code = os.pipe()
    from_code, answers = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(to_code)
        os.close(from_code)
        run_code(orders, answers)
    os.close(orders)
    os.close(answers)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # The kernel keeps signals of the code from the first process, but for those that it handles.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    keep(pid, to_code, from_code)


def keep(code, to_code, from_code):
    token = json.loads(sys.stdin.readline())["token"]

    def say(line):
        write_all(1, f"{token}{json.dumps(line)}\n".encode())

    if os.read(from_code, 1) != b"r":
        sys.exit("The process for the code did not start.")
    idle = memory_of_others()
    say({"kind": "ready"})
    line = sys.stdin.readline()
    if line == "":
        return
    limit = idle + json.loads(line)["memoryBytes"]
    order = line.encode()
    # Beside the reading below: the code may answer before it has taken its whole order.
    threading.Thread(target=write_order, args=(to_code, order), daemon=True).start()
    outcome = bytearray()
    while True:
        # Before the look at the pipe: what a process wrote, it wrote before it ended.
        ended = has_ended(code)
        readable, _, _ = select.select([from_code], [], [], 0 if ended else MEMORY_POLL_S)
        if memory_of_others() > limit:
            return say({"kind": "memory"})
        part = os.read(from_code, 65536) if readable else b""
        outcome += part
        # Children of the code may keep the pipe open; the answer is the code's.
        if part == b"" and (readable or ended):
            break
        if len(outcome) > MAX_OUTCOME:
            return say(failed("It wrote more than an answer where its answer goes."))
    write_all(2, f"{token}\n".encode())
    say(read_outcome(bytes(outcome)))


def has_ended(code):
    """Also when it stopped itself: nothing would ever wake it."""
    try:
        # As the first process, the keeper also gets the orphans, and lets them go here.
        while (change := os.waitpid(-1, os.WNOHANG | os.WUNTRACED)) != (0, 0):
            if change[0] == code:
                return True
        return False
    except ChildProcessError:
        return True


def read_outcome(outcome):
    """One line with its length before it; anything else was not written by what runs the code."""
    length, _, text = outcome.decode("utf8", "replace").partition("\n")
    if length == "" and text == "":
        return failed("Its process ended before it had answered.")
    if not length.isdecimal() or int(length) != len(text.encode()):
        return failed("It wrote something else where its answer goes.")
    return {"kind": "done", "json": text[1:]} if text.startswith("+") else failed(text[1:])


def failed(error):
    return {"kind": "failed", "error": error[: 512 * 1024]}


def write_order(to_code, order):
    try:
        write_all(to_code, order)
        os.close(to_code)
    except OSError:
        pass  # It has gone, and says so at the other end.


def memory_of_others():
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) in (1, os.getpid()):
            continue
        try:
            with open(f"/proc/{name}/statm") as file:
                _, resident, shared, *_ = file.read().split()
            total += (int(resident) - int(shared)) * PAGE
        except OSError:
            pass  # It ended meanwhile.
    return total


def run_code(orders, answers):
    # The keeper's orders come that way.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name in ("numpy", "pandas"):
        __import__(name)
    import run_code as runner

    os.write(answers, b"r")
    with os.fdopen(orders, encoding="utf8") as stream:
        order = json.loads(stream.readline())
    limit = order["memoryBytes"] + data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    outcome = asyncio.run(runner.run(order["code"], order["inputs"])).encode("utf8", "surrogatepass")
    write_all(answers, f"{len(outcome)}\n".encode() + outcome)
    os._exit(0)


def data_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * PAGE


def write_all(file, data):
    while data:
        data = data[os.write(file, data) :]


main()
