"""The clients of bench/serve-load: serve_load.py MODE SOCKET COUNT TOKEN... Prints figures; exits with 1 if a bar is missed."""
import json, socket, sys, threading, time

mode, path, count, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
ORDER = json.dumps({"argv": ["/bin/true"], "policy": "plain"}).encode()


class Link:
    def __init__(self, token):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.connect(path)
        self.f = self.s.makefile("rb")
        self.head = ("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %d\r\n\r\n" % (token, len(ORDER))).encode() + ORDER

    def run(self):
        """Seconds, the status of the answer, and the answer."""
        began = time.perf_counter()
        self.s.sendall(self.head)
        status, length = int(self.f.readline().split()[1]), 0
        while (line := self.f.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        text = self.f.read(length)
        return time.perf_counter() - began, status, text


def load(clients, seconds=None, runs=None):
    """clients: token -> how many at once. Returns token -> times of runs that succeeded; and how many were turned away, or failed."""
    times, other, lock, left = {t: [] for t in clients}, {"429": 0, "bad": 0, "parked": 0}, threading.Lock(), [runs]
    end = time.monotonic() + seconds if seconds else None

    def work(token):
        link = Link(token)
        while not end or time.monotonic() < end:
            with lock:
                if runs is not None and left[0] <= 0:
                    return
                if runs is not None:
                    left[0] -= 1
            took, status, text = link.run()
            if end and time.monotonic() > end:
                return  # who has more under way at the end would be counted more often
            good = status == 200 and b'"status":0' in text
            with lock:
                if good:
                    times[token].append(took)
                    other["parked"] += b'"start":"parked"' in text
                else:
                    other["429" if status == 429 else "bad"] += 1
            if status == 429:
                time.sleep(0.05)

    threads = [threading.Thread(target=work, args=(t,)) for t, n in clients.items() for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return times, other


def at(values, share):
    values = sorted(values)
    return 1000 * values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def fair():
    """Three tenants with four clients each, then with sixteen, and one that floods with sixty."""
    *victims, flooder = tokens
    good = True
    for clients in (4, 16):
        calm, flood, jain, shares = [], [], [], []
        for _ in range(3):  # interleaved: the machine is the same for both
            times, _other = load({**{v: clients for v in victims}, flooder: clients}, count)
            calm += [x for v in victims for x in times[v]]
            times, _other = load({**{v: clients for v in victims}, flooder: 60}, count)
            flood += [x for v in victims for x in times[v]]
            n = [len(times[t]) for t in tokens]
            jain.append(sum(n) ** 2 / (len(n) * sum(x * x for x in n)))
            shares.append(n)
        ratio = at(flood, 0.99) / at(calm, 0.99)
        print("%d clients each: runs while the last floods %s, Jain index %s (bar: 0.95)" % (clients, shares, " ".join("%.3f" % j for j in jain)))
        print("  the others: %d runs without, %d with the flood; p99 %.1f and %.1f ms, %.2fx (bar: 2x)" % (len(calm), len(flood), at(calm, 0.99), at(flood, 0.99), ratio), flush=True)
        good &= min(jain) >= 0.95 and ratio < 2
    return good


def rate():
    load({tokens[0]: 4}, 3)
    time.sleep(3)
    began = time.monotonic()
    times, other = load({tokens[0]: 4}, runs=count)
    took = time.monotonic() - began
    done = len(times[tokens[0]])
    print("%d runs in %.1f s: %.0f a second (bar: 200); %d in parked boxes, %d turned away, %d failed; p50 %.2f ms, p99 %.2f ms" %
          (done, took, done / took, other["parked"], other["429"], other["bad"], at(times[tokens[0]], 0.5), at(times[tokens[0]], 0.99)))
    return done / took >= 200


def soak():
    pid, first, failed = int(sys.argv[-1]), None, 0
    tokens.pop()
    load({tokens[0]: 4}, runs=max(count // 20, 200))
    rss = lambda: int(next(x for x in open("/proc/%d/status" % pid) if x.startswith("VmRSS")).split()[1])
    fds = lambda: len(__import__("os").listdir("/proc/%d/fd" % pid))
    seen = [(0, rss(), fds())]
    print("runs 0: %d kB, %d descriptors" % seen[0][1:], flush=True)
    done = 0
    while done < count:
        times, other = load({tokens[0]: 4}, runs=min(max(count // 10, 1), count - done))
        done += len(times[tokens[0]])
        failed += other["bad"]
        seen.append((done, rss(), fds()))
        print("runs %d: %d kB, %d descriptors, %d failed" % (done, rss(), fds(), failed), flush=True)
        if failed > count // 100:
            break
    grown = seen[-1][1] - seen[len(seen) // 2][1]
    print("memory in the second half: %+d kB (bar: 1024)" % grown)
    return done >= count and grown <= 1024 and failed == 0 and seen[-1][2] <= seen[0][2] + 8


sys.exit(0 if {"fair": fair, "rate": rate, "soak": soak}[mode]() else 1)
