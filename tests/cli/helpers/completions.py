# completions.py CORDON: which options the completions of zsh and fish offer for a verb that it does not have, and lack that it
# has. Both files are read as text, so that neither shell need be installed.
import re
import subprocess
import sys

SHORT = {"--" + k for k in "time cpu memory procs files disk output egress ingress effects rate".split()}


def say(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True).stdout


def zsh():
    text = open("completions/_cordon").read()
    lists = {n: re.search(r"\n  %s=\(\n(.*?)\n  \)" % n, text, re.S).group(1) for n in ("doors", "view", "run", "learn")}
    found = {}
    for branch in re.split(r"\n    (?=[a-z][a-z |-]*\))", text[text.index("case $words[1] in"):])[1:]:
        verbs, offers = branch.split(")", 1)
        offers = re.sub(r"\$(doors|view|run|learn)\b", lambda m: lists[m.group(1)], offers)
        options = {o for m in re.finditer(r"\{(-[^}]*)\}'\[", offers) for o in m.group(1).split(",")}
        options |= set(re.findall(r"'(?:\([^)]*\))?\*?(--?[a-zA-Z][a-z-]*)\[", offers))
        for verb in verbs.split("|"):
            found[verb.strip()] = options
    return found


def fish():
    sets, found = {}, {}
    for line in open("completions/cordon.fish"):
        if m := re.match(r"set -l (\w+) '__cordon_verb (.*)'", line):
            sets[m.group(1)] = m.group(2).split()
        m = re.match(r"complete -c cordon -n (?:'__cordon_verb ([^']*)'|\$(\w+)) (.*)", line)
        for verb in (m.group(1).split() if m.group(1) else sets[m.group(2)]) if m else []:
            options = found.setdefault(verb, set())
            options |= {"--" + o for o in re.findall(r"-l ([a-z-]+)", m.group(3).split(" -d ")[0])}
            options |= {"-" + o for o in re.findall(r"-s ([a-zA-Z])\b", m.group(3).split(" -d ")[0])}
    return found


usage = say("help")
verbs = re.findall(r"^  ([a-z][a-z-]*) +\S", usage[usage.index("Verbs:"):], re.M)
for shell, offered in (("zsh", zsh()), ("fish", fish())):
    for verb in verbs:
        text = say("help", verb)
        text = text[text.index("Options:"):] if "Options:" in text else ""
        has = {o.strip(" ,") for o in re.findall(r"(?:^|[ ,])--?[a-zA-Z][a-z-]*", text, re.M)}
        got = offered.get(verb, set()) - {"-h", "--help"}
        for o in sorted(has - got):
            print(shell, verb, "lacks", o)
        for o in sorted(got - has - (SHORT if "--limit" in has else set())):
            print(shell, verb, "has no", o)
