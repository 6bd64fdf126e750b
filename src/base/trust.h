/* SPDX-License-Identifier: MIT */
/* base/trust.h - how programs find the certificate authorities they trust: the files that a box with
 * opened-up TLS sees a bundle over (the host's roots and the box's own authority), and the variables that
 * name it to programs that do not look there. The first file that exists on the host is also what the broker
 * trusts. */
#pragma once

static const char *const trust_files[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Gentoo */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, by its real name */
        "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine */
};

static const char *const trust_variables[] = {
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
        "PIP_CERT",      "AWS_CA_BUNDLE",  "CARGO_HTTP_CAINFO",  "DENO_CERT",
};
