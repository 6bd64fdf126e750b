/* SPDX-License-Identifier: MIT */
/* learn/advise.c - stock tasks and the least doors for each. What can go to standard output does: then the
 * box writes nothing at all. tests/cli/t1006-advise.sh runs every one whose tool is installed. */
#include "learn/internal.h"

#include <strings.h>

#define SECRETS  "expect deny  read {home}/.ssh/id_ed25519\nexpect deny  read {home}/.aws/credentials\n"
#define NO_NET   "expect deny  net GET https://example.com/\n"
#define NO_WRITE "expect deny  write {work}/anything\n"
#define SMALL    "limit  time 30s  cpu 30s  memory 512M  procs 16  output 64M\n"
#define USUAL    "the network, your home and its keys, your environment, every other file and program"

static const struct learn_task tasks[] = {
        { "parse-csv", "parse a CSV file", "read table spreadsheet rows columns data", "python3",
          "use    base/python3\nread   {work}/in.csv\n" SMALL
          "expect allow read {work}/in.csv\n" SECRETS NO_NET NO_WRITE,
          "python3 -c 'import csv, sys; print(sum(1 for row in csv.reader(open(\"in.csv\"))))'", USUAL },
        { "query-json", "query a JSON file", "jq filter extract select", "jq",
          "read   {work}/in.json\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE, "jq . in.json",
          USUAL },
        { "query-sqlite", "query a SQLite database", "sql database db select sqlite3", "sqlite3",
          "read   {work}/in.db\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "sqlite3 -readonly in.db .tables", USUAL ", and writing to the database" },
        { "resize-image", "resize an image", "picture photo scale thumbnail convert imagemagick png jpeg",
          "convert",
          "read   {work}/in.png\nread   /etc/ImageMagick-6?\nread   /etc/ImageMagick-7?\n" SMALL
          "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "convert in.png -resize 50% png:-", USUAL ", and the delegates that ImageMagick would start" },
        { "convert-video", "convert a video", "movie film audio sound ffmpeg transcode mp4 mp3", "ffmpeg",
          "read   {work}/in.mp4\nlimit  time 10m  memory 2G  procs 64  output 1G\nexpect deny  run "
          "sh\n" SECRETS NO_NET NO_WRITE,
          "ffmpeg -loglevel error -i in.mp4 -f matroska -",
          USUAL ", and streams that a playlist would fetch" },
        { "read-pdf", "read the text of a PDF", "document pdftotext extract", "pdftotext",
          "read   {work}/in.pdf\nread   /usr/share/poppler?\nread   /etc/fonts?\n" SMALL
          "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "pdftotext in.pdf -", USUAL },
        { "run-python-script", "run a python script", "py snippet program", "python3",
          "use    base/python3\nread   {work}/script.py\n" SMALL
          "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "python3 script.py", USUAL },
        { "run-node-script", "run a node script", "javascript js program", "node",
          "use    base/node\nread   {work}/script.js\nlimit  time 30s  memory 1G  procs 32  output "
          "64M\n" SECRETS NO_NET NO_WRITE,
          "node script.js", USUAL },
        { "run-shell-pipeline", "run a shell pipeline", "sort uniq count awk sed text lines", "sort",
          "run    sort uniq head\nread   {work}/in.txt\n" SMALL
          "expect deny  run curl\n" SECRETS NO_NET NO_WRITE,
          "sh -c 'sort in.txt | uniq -c | sort -rn | head'", USUAL },
        { "run-pytest", "run pytest", "tests test suite python", "pytest",
          "use    base/python3\nread   {work}  except .env\nenv    PYTHONDONTWRITEBYTECODE=1\n"
          "limit  time 10m  memory 2G  procs 64\nexpect deny  read {work}/.env\nexpect deny  run sh\n" SECRETS
                  NO_NET NO_WRITE,
          "python3 -m pytest -q -p no:cacheprovider", USUAL ", .env, and every write to the project" },
        { "run-unittest", "run python unit tests", "test suite unittest", "python3",
          "use    base/python3\nread   {work}  except .env\nenv    PYTHONDONTWRITEBYTECODE=1\n"
          "limit  time 10m  memory 2G  procs 64\nexpect deny  read {work}/.env\nexpect deny  run sh\n" SECRETS
                  NO_NET NO_WRITE,
          "python3 -m unittest -q", USUAL ", .env, and every write to the project" },
        { "search-logs", "search log files", "grep find errors log lines", "grep",
          "read   {work}/app.log\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "grep -c error app.log", USUAL },
        { "list-archive", "list what is in an archive", "tar tarball look", "tar",
          "read   {work}/in.tar\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE, "tar -tvf in.tar",
          USUAL ", and unpacking" },
        { "unpack-archive", "unpack an archive", "tar tarball extract untar", "tar",
          "read   {work}/in.tar\nedit   {work}/out\nlimit  time 2m  memory 512M  procs 16  disk 1G\n"
          "expect allow write {work}/out/x\nexpect deny  write {work}/.git/hooks/pre-commit\nexpect deny  "
          "run sh\n" SECRETS NO_NET,
          "tar -xf in.tar -C out --no-same-owner",
          USUAL ", and every write outside out/; files land when you apply them" },
        { "compress-file", "compress a file", "gzip zip gz small", "gzip",
          "read   {work}/in.txt\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE, "gzip -c in.txt",
          USUAL },
        { "checksum-files", "checksum a file", "sha256sum sha256 sha hash digest verify", "sha256sum",
          "read   {work}/in.txt\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE, "sha256sum in.txt",
          USUAL },
        { "compare-files", "compare two files", "diff difference changes patch", "diff",
          "read   {work}/a.txt {work}/b.txt\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "diff -u a.txt b.txt", USUAL },
        { "lint-shell", "lint a shell script", "shellcheck check sh bash", "shellcheck",
          "read   {work}/script.sh\n" SMALL "expect deny  run sh\n" SECRETS NO_NET NO_WRITE,
          "shellcheck script.sh", USUAL ", and running the script" },
        { "check-c", "check a C file", "gcc compile syntax warnings c program", "gcc",
          "use    base/build\nread   {work}/in.c\nlimit  time 1m  memory 1G  procs 32\n" SECRETS NO_NET
                  NO_WRITE,
          "gcc -Wall -fsyntax-only in.c", USUAL ", and every write to the project" },
        { "make-build", "build with make", "compile project c make gcc", "make",
          "use    base/build\nedit   {work}\nlimit  time 10m  memory 2G  procs 128  disk 1G\n"
          "expect allow write {work}/main.o\n" SECRETS NO_NET,
          "make",
          "the network, your home and its keys, your environment; what is built lands when you apply it" },
        { "git-log", "read the history of a git repository", "git log blame show commits", "git",
          "use    base/git\nread   {work}  except .env\nlimit  time 1m  memory 1G  procs 32\n"
          "expect deny  read {home}/.gitconfig\nexpect deny  read {home}/.git-credentials\n" SECRETS NO_NET
                  NO_WRITE,
          "git log --oneline", USUAL ", hooks, your git configuration and credentials" },
        { "git-clone", "clone a git repository", "git fetch checkout download repository", "git",
          "use    base/git\nedit   {work}/clone\nnet    https://github.com/**  GET POST  cap 500M\n"
          "limit  time 10m  memory 1G  procs 64  disk 2G\nexpect deny  net POST https://collector.example/\n"
          "expect deny  read {home}/.git-credentials\n" SECRETS,
          "git clone --depth 1 https://github.com/OWNER/NAME clone/NAME",
          "your home, its keys and credentials, every other host; files land when you apply them" },
        { "fetch-url", "fetch a URL", "download curl http https web page get", "curl",
          "net    https://example.com/**  GET HEAD  cap 50M\n" SMALL
          "expect allow net GET https://example.com/index.html\n"
          "expect deny  net POST https://example.com/\nexpect deny  net GET "
          "https://collector.example/\n" SECRETS NO_WRITE,
          "curl -sS --fail https://example.com/",
          "your home, its keys, your environment, every other host and method" },
        { "npm-install", "npm install", "node packages dependencies javascript install", "npm",
          "use    base/node\nread   {work}/package.json\nread   {work}/package-lock.json?\nedit   "
          "{work}/node_modules\n"
          "env    CI=1 npm_config_cache={tmp}/npm npm_config_ignore_scripts=true\n"
          "net    https://registry.npmjs.org/**  GET  cap 600M\nlimit  time 10m  memory 2G  procs 256  disk "
          "3G\n"
          "expect deny  read {work}/.env\nexpect deny  net PUT https://registry.npmjs.org/some-package\n"
          "expect deny  net GET https://collector.example/\n" SECRETS,
          "npm install --no-audit --no-fund",
          "your home, .npmrc and tokens, install scripts, every other host" },
        { "pip-install", "pip install", "python packages dependencies install", "pip3",
          "use    base/python3\nread   {work}/requirements.txt\nedit   {work}/vendor\nenv    "
          "PIP_NO_CACHE_DIR=1\n"
          "net    https://pypi.org/simple/**  GET  cap 100M\nnet    https://files.pythonhosted.org/**  GET  "
          "cap 600M\n"
          "limit  time 10m  memory 2G  procs 64  disk 2G\nexpect deny  net POST "
          "https://upload.pypi.org/legacy/\n"
          "expect deny  net GET https://collector.example/\n" SECRETS,
          "python3 -m pip install --target vendor --only-binary :all: -r requirements.txt",
          "your home, .pypirc and tokens, building from source, every other host" },
};

const struct learn_task *learn_tasks(size_t *ret_count)
{
        *ret_count = COUNT(tasks);
        return tasks;
}

/* How many letters `word` and the next word of `list` share; a plural or an ending is the same word. */
static bool same_word(const char *word, size_t n, const char *other, size_t k)
{
        size_t least = n < k ? n : k, most = n < k ? k : n;
        return least >= 2 && strncasecmp(word, other, least) == 0 &&
               (most == least || (least >= 4 && most - least <= 2));
}

static unsigned word_score(const char *word, size_t n, const char *list)
{
        unsigned best = 0;
        for (const char *p = list; *p;) {
                size_t k = strcspn(p, " -");
                if (same_word(word, n, p, k))
                        best = k == n ? 3 : best ? best : 2;
                p += k + (p[k] != '\0');
        }
        return best;
}

static bool is_filler(const char *word, size_t n)
{
        static const char *const fillers[] = { "a",   "an",   "the",  "of",    "in",  "is",
                                               "to",  "with", "file", "files", "my",  "what",
                                               "two", "some", "it",   "and",   "from" };
        for (size_t i = 0; i < COUNT(fillers); i++)
                if (strlen(fillers[i]) == n && strncasecmp(word, fillers[i], n) == 0)
                        return true;
        return false;
}

static unsigned task_score(const struct learn_task *t, const char *words)
{
        unsigned sum = strcasecmp(t->name, words) == 0 ? 1000 : strcasecmp(t->title, words) == 0 ? 500 : 0;
        for (const char *p = words; *p;) {
                size_t n = strcspn(p, " -");
                if (n > 0 && !is_filler(p, n))
                        sum += 3 * word_score(p, n, t->name) + 3 * word_score(p, n, t->title) +
                               word_score(p, n, t->words);
                p += n + (p[n] != '\0');
        }
        return sum;
}

const struct learn_task *learn_task_find(const char *words)
{
        const struct learn_task *best = NULL;
        unsigned most = 0;
        for (size_t i = 0; i < COUNT(tasks); i++) {
                unsigned score = task_score(&tasks[i], words);
                if (score > most) {
                        most = score;
                        best = &tasks[i];
                }
        }
        return best;
}
