# starts.py CORDON observer|stop: starts that are disturbed; prints "ended" when none is held up.
import os, signal, subprocess, sys, time


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def name(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def send(pid, sig):
    try:
        os.kill(pid, sig)
    except OSError:
        pass


def kill_observer(keeper):
    end = time.time() + 0.05
    while time.time() < end:
        for init in children(keeper.pid):
            for pid in children(init):
                if name(pid) == "cordon-observer":
                    return send(pid, signal.SIGKILL)


def stop_init(keeper):
    """At its first sight, long before the box is up."""
    end = time.time() + 0.05
    while time.time() < end:
        for pid in children(keeper.pid):
            if "janitor" not in name(pid):
                send(pid, signal.SIGSTOP)
                time.sleep(0.05)
                return keeper.send_signal(signal.SIGTERM)


disturb, rounds, command = {"observer": (kill_observer, 40, ["true"]), "stop": (stop_init, 8, ["sleep", "9"])}[sys.argv[2]]
wrong = []
for i in range(rounds):
    keeper = subprocess.Popen([sys.argv[1], "run", "--time", "8s", "--"] + command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    disturb(keeper)
    try:
        keeper.wait(20)
    except subprocess.TimeoutExpired:
        wrong.append(f"round {i} hangs")
        keeper.kill()
        keeper.wait()
print("; ".join(wrong) or "ended")
