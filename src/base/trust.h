/* SPDX-License-Identifier: MIT */
/* base/trust.h - how programs find the certificate authorities they trust: the files that a box with TLS
 * interception sees replaced by a bundle (the host's roots and the box's own authority), and the variables
 * that name the bundle to programs that read none of these files. The broker itself trusts the first of
 * these files that exists on the host. */
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
