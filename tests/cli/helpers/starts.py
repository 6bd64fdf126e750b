# starts.py CORDON observer|stop: starts that are disturbed; prints "ended" when none is held up.
# starts.py CORDON leave: one that is stopped and left alone; prints the error that it ends with.
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
    while keeper.poll() is None:
        for init in children(keeper.pid):
            for pid in children(init):
                if name(pid) == "cordon-observer":
                    return send(pid, signal.SIGKILL)


def stop_init(keeper):
    """At its first sight as a program of its own, long before the box is up. Before its exec the keeper shares its
    memory and waits for it (vfork): a stop of those microseconds holds the keeper up until SIGCONT or SIGKILL."""
    while keeper.poll() is None:
        for pid in children(keeper.pid):
            if name(pid) == "cordon-init":
                return send(pid, signal.SIGSTOP)


def stop_and_ask(keeper):
    stop_init(keeper)
    time.sleep(0.05)
    keeper.send_signal(signal.SIGTERM)


def leave(cordon):
    """Whoever is met after its start ends by its time, and another one is tried."""
    for _ in range(5):
        keeper = subprocess.Popen([cordon, "run", "--time", "2s", "--", "sleep", "9"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stop_init(keeper)
        try:
            said = keeper.communicate(timeout=80)[1]
        except subprocess.TimeoutExpired:
            keeper.kill()
            return "it hangs"
        if "error" in said:
            return said.splitlines()[0]
    return "no start was met"


if sys.argv[2] == "leave":
    print(leave(sys.argv[1]))
    sys.exit()
disturb, rounds, command = {"observer": (kill_observer, 40, ["true"]), "stop": (stop_and_ask, 8, ["sleep", "9"])}[sys.argv[2]]
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
