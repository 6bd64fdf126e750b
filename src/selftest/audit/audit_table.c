/* SPDX-License-Identifier: MIT */
/* selftest/audit/audit_table.c - the checks of an audit. Techniques are those of MITRE ATT&CK (T) and ATLAS
 * (AML). A weight is how bad it is if it is open, an effort how much work its repair is. */
#include "selftest/audit/audit.h"

#define PROBE(id, group, weight, what, technique, remedy)                                                    \
        {                                                                                                    \
                id, group, weight, 4, AUDIT_BY_PROBE, what, 1, technique, remedy                             \
        }
#define TRIAL(id, group, weight, technique, remedy)                                                          \
        {                                                                                                    \
                id, group, weight, 3, AUDIT_BY_TRIAL, id, 1, technique, remedy                               \
        }
#define HOST(id, weight, effort, what, technique, remedy)                                                    \
        {                                                                                                    \
                id, AUDIT_HOST, weight, effort, AUDIT_BY_HOST, what, 1, technique, remedy                    \
        }
#define FACT(id, group, weight, effort, what, whole, technique, remedy)                                      \
        {                                                                                                    \
                id, group, weight, effort, AUDIT_BY_FACT, what, whole, technique, remedy                     \
        }
#define LINT(id, group, weight, code, technique, remedy)                                                     \
        {                                                                                                    \
                id, group, weight, 1, AUDIT_BY_LINT, code, 1, technique, remedy                              \
        }
#define ITSELF(id, group, weight, effort, technique, remedy)                                                 \
        {                                                                                                    \
                id, group, weight, effort, AUDIT_BY_ITSELF, id, 1, technique, remedy                         \
        }
#define TENANTS(id, weight, effort, what, whole, technique, remedy)                                          \
        {                                                                                                    \
                id, AUDIT_TENANTS, weight, effort, AUDIT_BY_TENANTS, what, whole, technique, remedy          \
        }
#define UPDATE "update cordon and the kernel; cordon selftest breakout"
#define GROUPS "man cordon-walls, CONTROL GROUPS"

static const struct audit_check checks[] = {
        PROBE("runtimes.mounts", AUDIT_RUNTIMES, 10, "mounts", "T1611", UPDATE),
        PROBE("runtimes.namespaces", AUDIT_RUNTIMES, 10, "namespaces", "T1611", UPDATE),
        PROBE("runtimes.kernel", AUDIT_RUNTIMES, 9, "kernel", "T1068", UPDATE),
        PROBE("runtimes.io-uring", AUDIT_RUNTIMES, 9, "kernel/io_uring", "T1068", UPDATE),
        PROBE("runtimes.bpf", AUDIT_RUNTIMES, 9, "kernel/no BPF", "T1068", UPDATE),
        PROBE("runtimes.modules", AUDIT_RUNTIMES, 10, "kernel/init_module", "T1611", UPDATE),
        PROBE("runtimes.foreign-abi", AUDIT_RUNTIMES, 9, "foreign-abi", "T1068", UPDATE),
        PROBE("runtimes.execution", AUDIT_RUNTIMES, 6, "execution", "T1609",
              "add `run PROGRAM...` or `use base/strict` to the policy"),
        PROBE("runtimes.privilege", AUDIT_RUNTIMES, 10, "privilege", "T1068", UPDATE),
        PROBE("runtimes.races", AUDIT_RUNTIMES, 9, "races", "T1611", UPDATE),
        PROBE("runtimes.dumps", AUDIT_RUNTIMES, 5, "dumps", "T1552", UPDATE),
        FACT("runtimes.weak", AUDIT_RUNTIMES, 7, 2, "runs_weak", 1, "T1611",
             "take `without` and `wall process` out of the policies"),
        FACT("runtimes.not-started", AUDIT_RUNTIMES, 6, 3, "runs_not_started", 3, "T1562",
             "cordon ledger health --since 90d; cordon doctor"),
        ITSELF("runtimes.matrix", AUDIT_RUNTIMES, 3, 2, "T1195",
               "update cordon: its knock-out matrix is old"),
        ITSELF("runtimes.uptime", AUDIT_RUNTIMES, 5, 2, "T1068", "reboot into the newest kernel"),

        PROBE("caps.raise", AUDIT_CAPS, 8, "limits/no limit can be raised", "T1499", UPDATE),
        PROBE("caps.others", AUDIT_CAPS, 7, "limits/no other's limits", "T1499", UPDATE),
        PROBE("caps.priority", AUDIT_CAPS, 5, "limits/the priority", "T1496", UPDATE),
        PROBE("caps.realtime", AUDIT_CAPS, 6, "limits/no real-time", "T1499", UPDATE),
        PROBE("caps.memory-lock", AUDIT_CAPS, 5, "limits/memory cannot be locked", "T1499", UPDATE),
        PROBE("caps.files", AUDIT_CAPS, 4, "limits/open files", "T1499", UPDATE),
        PROBE("caps.groups-closed", AUDIT_CAPS, 8, "machine/no control group file", "T1611", UPDATE),
        TRIAL("caps.time", AUDIT_CAPS, 7, "T1496", "cordon selftest bombs"),
        TRIAL("caps.output", AUDIT_CAPS, 5, "T1499", "cordon selftest bombs"),
        FACT("caps.hit", AUDIT_CAPS, 4, 2, "runs_capped", 10, "T1499",
             "raise the limit that recurs, or mend what reaches it: cordon ledger health"),
        FACT("caps.sampled", AUDIT_CAPS, 4, 3, "runs_without_groups", 1, "T1499", GROUPS),
        LINT("caps.output-cap", AUDIT_CAPS, 3, "W116", "T1499", "add `max` to the `out` line"),

        PROBE("envelope.files", AUDIT_ENVELOPE, 10, "files", "T1611", UPDATE),
        PROBE("envelope.processes", AUDIT_ENVELOPE, 9, "processes", "T1613", UPDATE),
        PROBE("envelope.sockets", AUDIT_ENVELOPE, 9, "sockets", "T1046", UPDATE),
        PROBE("envelope.metadata", AUDIT_ENVELOPE, 9, "sockets/no way to the metadata", "T1552", UPDATE),
        PROBE("envelope.terminal", AUDIT_ENVELOPE, 8, "terminal", "T1611", UPDATE),
        PROBE("envelope.devices", AUDIT_ENVELOPE, 8, "devices", "T1611", UPDATE),
        PROBE("envelope.machine", AUDIT_ENVELOPE, 7, "machine", "T1613", UPDATE),
        PROBE("envelope.outside", AUDIT_ENVELOPE, 10, "outside", "T1485", UPDATE),
        TRIAL("envelope.until", AUDIT_ENVELOPE, 7, "T1562", UPDATE),
        TRIAL("envelope.expect", AUDIT_ENVELOPE, 5, "T1562", UPDATE),
        LINT("envelope.run-any", AUDIT_ENVELOPE, 6, "W105", "T1609",
             "name the programs: cordon learn; or add `until DATE`"),
        LINT("envelope.wild-host", AUDIT_ENVELOPE, 6, "W101", "AML.T0024", "name the hosts: cordon learn"),
        LINT("envelope.project", AUDIT_ENVELOPE, 5, "W111", "T1485", "use `edit` instead of `write`"),
        LINT("envelope.engine", AUDIT_ENVELOPE, 9, "W113", "T1610", "take the `sock` line out"),
        LINT("envelope.secrets", AUDIT_ENVELOPE, 8, "W122", "T1552",
             "take the door out, or `except` the store"),
        LINT("envelope.layer-off", AUDIT_ENVELOPE, 7, "W124", "T1562",
             "take `without` out of the `wall` line"),
        LINT("envelope.expired", AUDIT_ENVELOPE, 2, "W128", "T1562", "take the closed door out"),
        LINT("envelope.no-expect", AUDIT_ENVELOPE, 2, "W120", "T1562", "add `expect deny` lines"),
        FACT("envelope.unused", AUDIT_ENVELOPE, 5, 1, "unused_doors_percent", 100, "T1613",
             "cordon policy tighten --log -p POLICY"),
        FACT("envelope.tripped", AUDIT_ENVELOPE, 8, 3, "runs_tripped", 1, "T1611",
             "cordon ledger --since 90d --kind end; cordon ledger --since 90d --kind denied"),

        PROBE("lifetimes.keys", AUDIT_LIFETIMES, 9, "secrets/no keys", "T1552", UPDATE),
        PROBE("lifetimes.cloud", AUDIT_LIFETIMES, 9, "secrets/no cloud", "T1552", UPDATE),
        PROBE("lifetimes.agents", AUDIT_LIFETIMES, 8, "secrets/no agent", "T1528", UPDATE),
        PROBE("lifetimes.variables", AUDIT_LIFETIMES, 9, "secrets/no variable", "T1552", UPDATE),
        PROBE("lifetimes.keyrings", AUDIT_LIFETIMES, 7, "kernel/no keyring", "T1552", UPDATE),
        TRIAL("lifetimes.class", AUDIT_LIFETIMES, 6, "AML.T0055", UPDATE),
        FACT("lifetimes.long", AUDIT_LIFETIMES, 6, 1, "credentials_long", 1, "T1528",
             "cordon vault audit has the command for each"),
        FACT("lifetimes.grown", AUDIT_LIFETIMES, 5, 1, "credentials_grown", 1, "T1528",
             "cordon vault audit has the command for each"),
        FACT("lifetimes.expired", AUDIT_LIFETIMES, 3, 1, "credentials_expired", 1, "T1528",
             "cordon vault audit has the command for each"),
        FACT("lifetimes.unbound", AUDIT_LIFETIMES, 7, 1, "credentials_unbound", 1, "T1528",
             "cordon vault audit has the command for each"),
        FACT("lifetimes.misused", AUDIT_LIFETIMES, 7, 2, "runs_denied_credential", 1, "AML.T0055",
             "cordon ledger --kind denied"),
        LINT("lifetimes.clear", AUDIT_LIFETIMES, 8, "W107", "T1552", "use https"),
        LINT("lifetimes.wildcard", AUDIT_LIFETIMES, 6, "W108", "T1528",
             "name the host that gets the credential"),
        LINT("lifetimes.variable", AUDIT_LIFETIMES, 7, "W114", "T1552",
             "cordon vault add NAME --env VARIABLE, and `with NAME` behind the door"),

        PROBE("gates.socket", AUDIT_GATES, 9, "sockets/no abstract socket", "AML.T0053", UPDATE),
        TRIAL("gates.unasked", AUDIT_GATES, 8, "AML.T0053", UPDATE),
        FACT("gates.stale", AUDIT_GATES, 3, 1, "gates_stale", 3, "AML.T0053",
             "cordon approve stats: leave `ask` out, or the line"),
        FACT("gates.tired", AUDIT_GATES, 7, 2, "persons_tired", 1, "AML.T0053",
             "ask less: cordon approve stats names the gates that repeat"),
        FACT("gates.unanswered", AUDIT_GATES, 4, 2, "unanswered/asked", 25, "AML.T0053",
             "cordon ledger export -f --format alerts --to URL"),
        FACT("gates.incidents", AUDIT_GATES, 8, 4, "incidents", 3, "AML.T0053",
             "cordon ledger report RUN --postmortem FILE"),
        LINT("gates.missing", AUDIT_GATES, 7, "W144", "AML.T0053", "add `ask` to the line"),
        LINT("gates.uncapped", AUDIT_GATES, 5, "W134", "AML.T0034", "add `cap N/h`"),
        LINT("gates.unbounded", AUDIT_GATES, 5, "W135", "AML.T0034", "add `where amount=int:1..N`"),
        LINT("gates.any-body", AUDIT_GATES, 4, "W145", "AML.T0053", "add `where`"),

        TRIAL("validators.escapes", AUDIT_VALIDATORS, 7, "AML.T0051", UPDATE),
        TRIAL("validators.hidden", AUDIT_VALIDATORS, 7, "AML.T0051", UPDATE),
        TRIAL("validators.secrets", AUDIT_VALIDATORS, 8, "AML.T0024", UPDATE),
        TRIAL("validators.links", AUDIT_VALIDATORS, 6, "AML.T0024", UPDATE),
        TRIAL("validators.formulas", AUDIT_VALIDATORS, 5, "AML.T0051", UPDATE),
        TRIAL("validators.json", AUDIT_VALIDATORS, 5, "AML.T0053", UPDATE),
        TRIAL("validators.depth", AUDIT_VALIDATORS, 5, "T1499", UPDATE),
        TRIAL("validators.types", AUDIT_VALIDATORS, 5, "AML.T0053", UPDATE),
        TRIAL("validators.size", AUDIT_VALIDATORS, 4, "T1499", UPDATE),
        TRIAL("validators.words", AUDIT_VALIDATORS, 6, "AML.T0053", UPDATE),
        FACT("validators.refused", AUDIT_VALIDATORS, 3, 2, "runs_output_refused", 5, "AML.T0053",
             "cordon ledger --kind output --since 90d; mend the program, or its schema"),
        ITSELF("validators.corpus", AUDIT_VALIDATORS, 4, 2, "AML.T0051",
               "update cordon: its output checks were measured on corpora too long ago"),
        LINT("validators.trifecta", AUDIT_VALIDATORS, 8, "W121", "AML.T0024",
             "label the doors, or take one of the three out: man cordon.policy"),

        PROBE("tenants.channels", AUDIT_TENANTS, 6, "channels", "T1613", UPDATE),
        PROBE("tenants.homes", AUDIT_TENANTS, 8, "secrets/no other home", "T1552", UPDATE),
        TRIAL("tenants.open-state", AUDIT_TENANTS, 8, "T1552", UPDATE),
        FACT("tenants.state", AUDIT_TENANTS, 9, 1, "state_open", 1, "T1552",
             "chmod -R go= on the state directory: man cordon, FILES"),
        ITSELF("tenants.users", AUDIT_TENANTS, 6, 3, "T1552", "one user for each tenant: man cordon-serve"),

        TRIAL("tenants.names", AUDIT_TENANTS, 9, "T1611", UPDATE),
        TRIAL("tenants.expired", AUDIT_TENANTS, 9, "T1528", UPDATE),
        TRIAL("tenants.lines", AUDIT_TENANTS, 8, "T1611", UPDATE),
        TRIAL("tenants.removed", AUDIT_TENANTS, 8, "T1070", UPDATE),
        TENANTS("tenants.not-as-made", 9, 2, "not_as_made", 1, "T1611",
                "chmod -R go= and chown its directory; an identity that two have: remove one, and start the "
                "server"),
        TENANTS("tenants.tokens-endless", 7, 1, "tokens_endless", 1, "T1528",
                "cordon serve token rm ID; cordon serve token new --tenant NAME"),
        TENANTS("tenants.tokens-old", 5, 1, "tokens_old", 3, "T1528",
                "cordon serve token rm ID; cordon serve token new --tenant NAME"),
        TENANTS("tenants.ceiling", 2, 2, "no_ceiling", 5, "T1610",
                "create tenants/NAME/ceiling.cordon: man cordon-serve"),
        TENANTS("tenants.policies", 3, 1, "no_policy", 1, "T1610",
                "create tenants/NAME/policies/default.cordon: man cordon-serve"),
        TENANTS("tenants.canaries", 3, 1, "canaries_wait", 2, "T1562",
                "POST /v1/policies/NAME/promote, or .../rollback"),
        TENANTS("tenants.vault-unused", 4, 1, "vault_unused", 3, "T1552",
                "DELETE /v1/vault/NAME: nothing has used it"),
        TENANTS("tenants.vault-debts", 6, 2, "vault_debts", 1, "T1552",
                "CORDON_STATE=tenants/NAME/state cordon vault audit"),
        ITSELF("tenants.heads", AUDIT_TENANTS, 10, 4, "T1070",
               "cordon ledger verify; on purpose: cordon serve tenant forget NAME"),
        ITSELF("tenants.unheaded", AUDIT_TENANTS, 5, 1, "T1070",
               "start the server: it records the heads of all ledgers"),

        ITSELF("schemas.age", AUDIT_SCHEMAS, 5, 2, "T1070",
               "update cordon: its records, or those of this ledger, are of another age"),
        TRIAL("schemas.altered", AUDIT_SCHEMAS, 9, "T1070", UPDATE),
        TRIAL("schemas.proof", AUDIT_SCHEMAS, 8, "T1070", UPDATE),
        TRIAL("schemas.policy", AUDIT_SCHEMAS, 6, "T1562", UPDATE),
        FACT("schemas.ledger", AUDIT_SCHEMAS, 10, 5, "ledger_altered", 1, "T1070",
             "cordon ledger verify; then cordon ledger restart"),
        FACT("schemas.unreadable", AUDIT_SCHEMAS, 10, 5, "ledger_unreadable", 1, "T1070",
             "cordon ledger verify; then cordon ledger restart"),
        FACT("schemas.unknown", AUDIT_SCHEMAS, 5, 2, "runs_unknown", 3, "T1070",
             "cordon ledger --kind unknown; cordon ledger note ID TEXT"),
        FACT("schemas.unfinished", AUDIT_SCHEMAS, 4, 2, "runs_unfinished", 10, "T1070",
             "find what kills cordon: cordon ledger health --since 90d"),
        FACT("schemas.unexplained", AUDIT_SCHEMAS, 3, 3, "runs_unexplained", 5, "T1070", UPDATE),
        FACT("schemas.gaps", AUDIT_SCHEMAS, 4, 3, "ledger_gaps", 3, "T1070",
             "cordon ledger verify; keep the state on a disk that keeps its promises"),

        HOST("host.boxes", 9, 4, "boxes", "T1611", "cordon doctor"),
        HOST("host.landlock", 6, 3, "landlock", "T1611", "a kernel with Landlock: cordon doctor"),
        HOST("host.seccomp", 9, 4, "seccomp filter", "T1068", "a kernel with seccomp: cordon doctor"),
        HOST("host.memory", 5, 3, "memory limit", "T1499", GROUPS),
        HOST("host.processes", 5, 3, "process limit", "T1499", GROUPS),
        HOST("host.terminal", 2, 1, "terminal injection", "T1611", "sudo sysctl -w dev.tty.legacy_tiocsti=0"),
        HOST("host.io-uring", 2, 1, "io_uring", "T1068", "sudo sysctl -w kernel.io_uring_disabled=2"),
        HOST("host.broker", 4, 2, "net broker", "T1046", "install cordon-egress: cordon doctor"),
        HOST("host.vault", 4, 2, "vault", "T1552", "install cordon-vault: cordon doctor"),

        ITSELF("self.overdue", AUDIT_SELF, 6, 1, "T1562", "cordon selftest audit, each quarter"),
        ITSELF("self.waivers", AUDIT_SELF, 5, 1, "T1562", "repair it, or renew the waiver with a new end"),
        ITSELF("self.experiments", AUDIT_SELF, 2, 2, "T1195",
               "update cordon: a feature on trial was to be reviewed"),
        ITSELF("self.incident-budget", AUDIT_SELF, 7, 4, "AML.T0053",
               "more incidents than the quarter's budget: stop widening, cordon ledger report"),
        ITSELF("self.judged", AUDIT_SELF, 3, 2, "T1562",
               "run it where the attempts can be judged: cordon selftest breakout"),
        ITSELF("self.policies", AUDIT_SELF, 1, 1, "T1562",
               "name the policies: cordon selftest audit FILE..."),
};
_Static_assert(sizeof checks / sizeof *checks <= AUDIT_ITEMS_MAX, "they fit");

const struct audit_check *audit_checks(size_t *ret_count)
{
        *ret_count = sizeof checks / sizeof *checks;
        return checks;
}
