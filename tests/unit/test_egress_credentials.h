/* SPDX-License-Identifier: MIT */
/* tests/unit/test_egress_credentials.h - a credential for each place that one is put into. */
#pragma once
#include "broker/egress/http/http.h"

#define SECRET       "ghp_R3alSecretValue0123456789abcdef"
#define HOLDER       "ghp_PLACEHOLDERaaaabbbbccccddddeeee"
#define PASS_SECRET  "pass-word-real-1"
#define PASS_HOLDER  "pass-word-fake-1"
#define PARAM_SECRET "param/real&value"
#define PARAM_HOLDER "param/fake&value"
#define FIELD_SECRET "field-real-value"
#define FIELD_HOLDER "field-fake-value"

static const struct http_credential credentials[] = {
        { "key",
          GRANT_HEADER,
          "Authorization",
          "Bearer ",
          "",
          { (const uint8_t *) SECRET, sizeof SECRET - 1 },
          { (const uint8_t *) HOLDER, sizeof HOLDER - 1 },
          POLICY_STAGE_TEST,
          0,
          0 },
        { "pass",
          GRANT_BASIC,
          "robot",
          "",
          "",
          { (const uint8_t *) PASS_SECRET, sizeof PASS_SECRET - 1 },
          { (const uint8_t *) PASS_HOLDER, sizeof PASS_HOLDER - 1 },
          POLICY_STAGE_TEST,
          0,
          2 },
        { "param",
          GRANT_QUERY,
          "key",
          "",
          "",
          { (const uint8_t *) PARAM_SECRET, sizeof PARAM_SECRET - 1 },
          { (const uint8_t *) PARAM_HOLDER, sizeof PARAM_HOLDER - 1 },
          POLICY_STAGE_TEST,
          1800000000,
          0 },
        { "field",
          GRANT_BODY,
          "",
          "",
          "",
          { (const uint8_t *) FIELD_SECRET, sizeof FIELD_SECRET - 1 },
          { (const uint8_t *) FIELD_HOLDER, sizeof FIELD_HOLDER - 1 },
          POLICY_STAGE_TEST,
          0,
          0 },
};
