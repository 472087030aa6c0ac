import type { Fault, Occurrence } from './fault.ts';
import { FaultSpecError, type Parts, parsePart } from './fault-clause.ts';

/**
 * Reads a fault specification: what it matches, then its parts, with colons between.
 *
 * ```
 * <spec>   = <match> { ":" <part> }
 * <match>  = [ <METHOD> " " ] <path>      a path below /v1, "*" in it for any one segment; "*" alone for any path
 * <part>   = <when> | <what>
 *
 * <when>   at most one; without it, every matching request
 *   every=<n>            the n-th, the 2n-th, …
 *   first=<n>            the first n
 *   p=<0..1>             each with this probability
 *   seed=<n>             with p: other requests, the same ones each time (1)
 *
 * <what>   at least one
 *   delay=<ms>           waits first; delay=<ms>-<ms> for a seeded spread. Alone, or with one of:
 *   status=<400..599>    answers with this error and does nothing
 *   retry-after=<text>   with status: the value of Retry-After, as it is
 *   reset                resets the connection and does nothing
 *   hang                 never answers and does nothing
 *   truncate             answers, and hangs up in the middle of the body
 *   malform              answers with a body that is not JSON
 *   without=<name>,…     answers without these headers
 *   commit-then-drop     does what was asked, and hangs up without an answer
 * ```
 *
 * A colon separates parts only when a letter follows it, so that `retry-after=` can be a date.
 * Examples: `PATCH /inventory/*:every=3:status=503`, `*:first=2:reset`, `GET /inventory:p=0.1:seed=7:truncate`.
 *
 * @throws FaultSpecError that says what is wrong with it
 */
export function parseFault(spec: string): Fault {
  const [match = '', ...parts] = spec.split(/:(?=[a-z])/);
  const matched = parseMatch(spec, match);
  const { occurrence = ALWAYS, seed, retryAfter = null, delay = null, harm = null } = parseParts(spec, parts);

  if (delay === null && harm === null) throw new FaultSpecError(spec, 'it does not say what goes wrong');
  if (retryAfter !== null && harm?.kind !== 'status') throw new FaultSpecError(spec, 'retry-after= goes with status=');
  if (seed !== undefined && occurrence.kind !== 'probability') throw new FaultSpecError(spec, 'seed= goes with p=');
  return {
    spec,
    ...matched,
    occurrence: occurrence.kind === 'probability' ? { ...occurrence, seed: seed ?? occurrence.seed } : occurrence,
    delay,
    harm: harm?.kind === 'status' ? { ...harm, retryAfter } : harm,
  };
}

const ALWAYS: Occurrence = { kind: 'always' };

function parseParts(spec: string, parts: readonly string[]): Parts {
  const read: Parts = {};
  for (const text of parts) {
    const part = parsePart(spec, text);
    const repeated = Object.keys(part).some((name) => name in read);
    if (repeated) throw new FaultSpecError(spec, `"${text}" does not go with what is before it`);
    Object.assign(read, part);
  }
  return read;
}

function parseMatch(spec: string, match: string): Pick<Fault, 'method' | 'path'> {
  const [, method = null, path = ''] = match.trim().match(/^(?:([A-Za-z]+|\*)\s+)?(\*|\/\S*)$/) ?? [];
  if (path === '') throw new FaultSpecError(spec, 'it must begin with a path such as /inventory/*, or with *');
  return {
    method: method === null || method === '*' ? null : method.toUpperCase(),
    path: path === '*' ? null : path.slice(1).split('/'),
  };
}
