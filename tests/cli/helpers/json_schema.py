#!/usr/bin/env python3
# tests/cli/helpers/json_schema.py SCHEMA FILE... - checks each file against the schema: with jsonschema where it is
# installed, and always with the little checker below, which knows the keywords that contrib/policy.schema.json uses and
# stops at one it does not. Prints "FILE: why" for each that does not fit; the two must agree.
import json, re, sys

KNOWN = {'$schema', 'title', 'description', 'type', 'additionalProperties', 'properties', 'required', 'items', 'enum', 'oneOf', 'pattern',
         'minLength', 'minItems', 'maxItems', 'uniqueItems', 'dependentRequired'}
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool}

def fits(v, s, at='$'):
    unknown = set(s) - KNOWN
    if unknown:
        raise SystemExit('the schema has a keyword that this checker does not know: %s' % unknown)
    if 'type' in s:
        kinds = s['type'] if isinstance(s['type'], list) else [s['type']]
        if not any(isinstance(v, int) and not isinstance(v, bool) if k in ('integer', 'number') else isinstance(v, TYPES[k]) for k in kinds):
            return '%s is no %s' % (at, s['type'])
    if 'enum' in s and v not in s['enum']:
        return '%s is none of %s' % (at, s['enum'])
    if isinstance(v, str):
        if len(v) < s.get('minLength', 0):
            return '%s is too short' % at
        if 'pattern' in s and not re.search(s['pattern'], v):
            return '%s does not look like %s' % (at, s['pattern'])
    if isinstance(v, list):
        if not s.get('minItems', 0) <= len(v) <= s.get('maxItems', len(v)):
            return '%s has too few or too many items' % at
        if s.get('uniqueItems') and len({json.dumps(x) for x in v}) != len(v):
            return '%s has an item twice' % at
        for i, x in enumerate(v):
            why = fits(x, s.get('items', {}), '%s[%d]' % (at, i))
            if why:
                return why
    if isinstance(v, dict):
        for k in s.get('required', []):
            if k not in v:
                return '%s has no %s' % (at, k)
        for k, needs in s.get('dependentRequired', {}).items():
            if k in v and not all(n in v for n in needs):
                return '%s has %s without %s' % (at, k, needs)
        for k, x in v.items():
            if k in s.get('properties', {}):
                why = fits(x, s['properties'][k], '%s.%s' % (at, k))
                if why:
                    return why
            elif s.get('additionalProperties') is False:
                return '%s.%s is not known' % (at, k)
    if 'oneOf' in s and sum(fits(v, one, at) is None for one in s['oneOf']) != 1:
        return '%s is not one of its kinds' % at
    return None

schema = json.load(open(sys.argv[1]))
try:
    import jsonschema
except ImportError:
    jsonschema = None
bad = False
for name in sys.argv[2:]:
    value = json.load(open(name))
    why = fits(value, schema)
    if jsonschema:
        try:
            jsonschema.validate(value, schema)
            theirs = True
        except jsonschema.ValidationError:
            theirs = False
        if theirs != (why is None):
            print('%s: the two checkers do not agree: %s' % (name, why))
            bad = True
            continue
    if why:
        print('%s: %s' % (name, why))
        bad = True
sys.exit(bad)
