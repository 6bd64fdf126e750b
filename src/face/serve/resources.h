/* SPDX-License-Identifier: MIT */
/* face/serve/resources.h - the handlers of all routes, one file for each resource. */
#pragma once
#include "face/serve/internal.h"

/* resource_host.c */
serve_handler get_health, get_metrics, get_tenants, post_drain;
/* own_address.c */
serve_handler post_once;
/* resource_operator.c */
serve_handler get_token, get_pool, get_audits;
/* resource_policies.c */
serve_handler get_policies, get_policy, put_policy, post_promote, post_rollback;
/* resource_images.c */
serve_handler get_images, post_image, delete_image;
/* resource_runs.c */
serve_handler get_runs, post_run, get_run, delete_run, get_run_events, get_stdout, get_stderr;
/* resource_sessions.c */
serve_handler get_sessions, post_session, get_session, delete_session;
/* resource_files.c */
serve_handler get_files, get_file, put_file, delete_file;
/* resource_changes.c */
serve_handler get_changes, get_change, post_apply, post_undo, delete_change;
/* resource_approvals.c */
serve_handler get_approvals, get_approval, post_approval, delete_approval, get_approval_events;
/* resource_vault.c */
serve_handler get_vault, put_credential, delete_credential;
/* resource_ledger.c */
serve_handler get_ledger, get_checkpoint, get_keys, get_verify, get_proof, get_trace;
/* resource_admin.c */
serve_handler post_tenant, put_tenant_settings, put_ceiling, get_tokens, post_token, delete_token, get_usage;
/* resource_page.c */
serve_handler get_page;
