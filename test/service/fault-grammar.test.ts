import { expect, test } from 'vitest';
import { parseFault } from '../../src/service/faults.ts';

const ALWAYS = { kind: 'always' };

test.each([
  ['*:reset', { method: null, path: null, occurrence: ALWAYS, delay: null, harm: { kind: 'reset' } }],
  ['/inventory:hang', { method: null, path: ['inventory'], harm: { kind: 'hang' } }],
  ['get /inventory:hang', { method: 'GET', path: ['inventory'] }],
  ['* /inventory/*:hang', { method: null, path: ['inventory', '*'] }],
  ['PATCH *:hang', { method: 'PATCH', path: null }],
  ['*:every=3:hang', { occurrence: { kind: 'every', n: 3 } }],
  ['*:hang:first=2', { occurrence: { kind: 'first', n: 2 } }],
  ['*:p=0.1:hang', { occurrence: { kind: 'probability', p: 0.1, seed: 1 } }],
  ['*:seed=9:p=1:hang', { occurrence: { kind: 'probability', p: 1, seed: 9 } }],
  ['*:delay=250', { delay: { least: 250, most: 250 }, harm: null }],
  ['*:delay=100-500:truncate', { delay: { least: 100, most: 500 }, harm: { kind: 'truncate' } }],
  ['*:status=503', { harm: { kind: 'status', status: 503, retryAfter: null } }],
  ['*:status=503:retry-after=2', { harm: { kind: 'status', status: 503, retryAfter: '2' } }],
  [
    '*:retry-after=Wed, 21 Oct 2026 07:28:00 GMT:status=429',
    { harm: { kind: 'status', status: 429, retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' } },
  ],
  ['*:status=429:retry-after=', { harm: { kind: 'status', status: 429, retryAfter: '' } }],
  ['*:without=Date, X-RateLimit-Reset', { harm: { kind: 'without', headers: ['date', 'x-ratelimit-reset'] } }],
  ['*:malform', { harm: { kind: 'malform' } }],
  ['*:commit-then-drop', { harm: { kind: 'commit-then-drop' } }],
])('parses the fault %s', (spec, expected) => {
  expect(parseFault(spec)).toMatchObject({ spec, ...expected });
});

test.each([
  ['', 'it needs a path such as /inventory/*, or *'],
  ['inventory:reset', 'it needs a path such as /inventory/*, or *'],
  ['GET:reset', 'it needs a path such as /inventory/*, or *'],
  ['*', 'it has no effect: add a part such as status=503 or delay=250'],
  ['*:every=2', 'it has no effect: add a part such as status=503 or delay=250'],
  ['*:explode', 'there is no part "explode"'],
  ['*:constructor', 'there is no part "constructor"'],
  ['*:every=0:reset', 'every needs a whole number from 1'],
  ['*:first=x:reset', 'first needs a whole number from 1'],
  ['*:every:reset', 'every needs a whole number from 1'],
  ['*:p=1.5:reset', 'p needs a probability from 0 to 1'],
  ['*:p=:reset', 'p needs a probability from 0 to 1'],
  ['*:seed=1:reset', 'seed= needs p='],
  ['*:delay=5-1', 'delay needs milliseconds up to 2147483647, such as 250 or 100-500'],
  ['*:delay=1-2-3', 'delay needs milliseconds up to 2147483647, such as 250 or 100-500'],
  ['*:delay', 'delay needs milliseconds up to 2147483647, such as 250 or 100-500'],
  ['*:delay=5-x', 'delay needs milliseconds up to 2147483647, such as 250 or 100-500'],
  ['*:delay=99999999999', 'delay needs milliseconds up to 2147483647, such as 250 or 100-500'],
  ['*:status=600', 'status needs a status from 400 to 599'],
  ['*:status=200', 'status needs a status from 400 to 599'],
  ['*:reset:retry-after=1', 'retry-after= needs status='],
  ['*:status=503:retry-after=\u00e9', 'retry-after needs a value in printable ASCII'],
  ['*:status=503:retry-after', 'retry-after needs a value in printable ASCII'],
  ['*:reset=1', 'reset takes no value'],
  ['*:without', 'without needs header names, separated by commas'],
  ['*:p:reset', 'p needs a probability from 0 to 1'],
  ['*:status', 'status needs a status from 400 to 599'],
  ['*:without=', 'without needs header names, separated by commas'],
  ['*:reset:hang', '"hang" can\'t be combined with the parts before it'],
  ['*:every=2:first=2:hang', '"first=2" can\'t be combined with the parts before it'],
])('refuses the fault %j: %s', (spec, reason) => {
  expect(() => parseFault(spec)).toThrow(`Fault "${spec}": ${reason}.`);
});
