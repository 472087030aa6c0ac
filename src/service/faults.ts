import { randomAt } from './seed.ts';
/** How a fault selects, among the requests that it matches, those that it affects. */
export type Occurrence =
  | { readonly kind: 'always' }
  /** Affects the n-th request, the 2n-th, … */
  | { readonly kind: 'every'; readonly n: number }
  | { readonly kind: 'first'; readonly n: number }
  /** Affects each request with this probability; the same seed chooses the same requests. */
  | { readonly kind: 'probability'; readonly p: number; readonly seed: number };

/** The effect of a fault. It begins after the request was authenticated and charged. */
export type Harm =
  /** Responds with an error instead of carrying out the request. `retryAfter` is sent unchanged. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  /** Resets the connection (over TLS, just ends it) instead of carrying out the request. */
  | { readonly kind: 'reset' }
  /** Does nothing and never responds. */
  | { readonly kind: 'hang' }
  /** Responds, and closes the connection in the middle of the body. */
  | { readonly kind: 'truncate' }
  /** Responds with a body that is not JSON. */
  | { readonly kind: 'malform' }
  /** Responds without these headers (lower-case names). */
  | { readonly kind: 'without'; readonly headers: readonly string[] }
  /** Carries out the request, and closes the connection without a response. */
  | { readonly kind: 'commit-then-drop' };

/** A range in milliseconds; for a fixed delay both ends are equal. */
export interface Delay {
  readonly least: number;
  readonly most: number;
}

export interface Fault {
  readonly spec: string;
  /** Null for any method. */
  readonly method: string | null;
  /** Segments below the base URL; `*` matches any one segment. Null for any path. */
  readonly path: readonly string[] | null;
  readonly occurrence: Occurrence;
  readonly delay: Delay | null;
  /** Null for a fault that only delays. */
  readonly harm: Harm | null;
}

export class FaultSpecError extends Error {
  override readonly name = 'FaultSpecError';

  constructor(
    readonly spec: string,
    reason: string,
  ) {
    super(`Fault "${spec}": ${reason}.`);
  }
}

/** The parts of a specification. Each may appear once. */
interface Parts {
  readonly occurrence?: Occurrence;
  readonly seed?: number;
  readonly retryAfter?: string;
  readonly delay?: Delay;
  readonly harm?: Harm;
}

/** Parses one part: a name, or `name=value`. */
function parsePart(spec: string, part: string): Parts {
  const [name = '', ...rest] = part.split('=');
  const read = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (read === undefined) throw new FaultSpecError(spec, `there is no part "${name}"`);
  const result = read(rest.length === 0 ? null : rest.join('='));
  if (typeof result === 'string') throw new FaultSpecError(spec, `${name} ${result}`);
  return result;
}

/** Parsers of parts by name. Each returns the part, or what is wrong with its value. */
const PARTS: Readonly<Record<string, (value: string | null) => Parts | string>> = {
  every: counted((n) => ({ kind: 'every', n })),
  first: counted((n) => ({ kind: 'first', n })),
  p: (value) => {
    const p = value === null || value.trim() === '' ? Number.NaN : Number(value);
    if (!(p >= 0 && p <= 1)) return 'needs a probability from 0 to 1';
    return { occurrence: { kind: 'probability', p, seed: 1 } };
  },
  seed: (value) => {
    const seed = wholeNumber(value);
    return seed === null ? 'needs a whole number' : { seed };
  },
  delay: (value) => {
    const [least = null, most = least, ...more] = value?.split('-').map(wholeNumber) ?? [];
    if (least === null || most === null || more.length > 0 || most < least || most > MAX_DELAY_MS) {
      return 'needs milliseconds up to 2147483647, such as 250 or 100-500';
    }
    return { delay: { least, most } };
  },
  status: (value) => {
    const status = wholeNumber(value);
    if (status === null || status < 400 || status > 599) return 'needs a status from 400 to 599';
    return { harm: { kind: 'status', status, retryAfter: null } };
  },
  'retry-after': (value) => {
    const isFieldValue = value !== null && /^[\x20-\x7e]*$/.test(value);
    return isFieldValue ? { retryAfter: value } : 'needs a value in printable ASCII';
  },
  without: (value) => {
    const headers = value?.split(',').map((name) => name.trim().toLowerCase()) ?? [];
    if (headers.length === 0 || headers.includes('')) return 'needs header names, separated by commas';
    return { harm: { kind: 'without', headers } };
  },
  ...Object.fromEntries(
    (['reset', 'hang', 'truncate', 'malform', 'commit-then-drop'] as const).map((kind) => [
      kind,
      (value: string | null) => (value === null ? { harm: { kind } } : 'takes no value'),
    ]),
  ),
};

const MAX_DELAY_MS = 2 ** 31 - 1;

function counted(occurrence: (n: number) => Occurrence) {
  return (value: string | null): Parts | string => {
    const n = wholeNumber(value);
    return n === null || n === 0 ? 'needs a whole number from 1' : { occurrence: occurrence(n) };
  };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * Parses a fault specification: the requests that it matches, and its parts, separated by colons.
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
 *   seed=<n>             with p: selects other requests, the same each time (default: 1)
 *
 * <what>   at least one
 *   delay=<ms>           waits first; delay=<ms>-<ms> for a seeded spread. Alone, or with one of:
 *   status=<400..599>    responds with this error and does nothing
 *   retry-after=<text>   with status: the value of Retry-After, sent unchanged
 *   reset                resets the connection and does nothing
 *   hang                 never responds and does nothing
 *   truncate             responds, and closes the connection in the middle of the body
 *   malform              responds with a body that is not JSON
 *   without=<name>,…     responds without these headers
 *   commit-then-drop     carries out the request, and closes the connection without a response
 * ```
 *
 * A colon separates parts only when a lower-case letter follows it, so that `retry-after=` can be a date.
 * Examples: `PATCH /inventory/*:every=3:status=503`, `*:first=2:reset`, `GET /inventory:p=0.1:seed=7:truncate`.
 * @throws FaultSpecError that says what is wrong with the specification
 */
export function parseFault(spec: string): Fault {
  const [match = '', ...parts] = spec.split(/:(?=[a-z])/);
  const matched = parseMatch(spec, match);
  const { occurrence = ALWAYS, seed, retryAfter = null, delay = null, harm = null } = parseParts(spec, parts);

  if (delay === null && harm === null)
    throw new FaultSpecError(spec, 'it has no effect: add a part such as status=503 or delay=250');
  if (retryAfter !== null && harm?.kind !== 'status') throw new FaultSpecError(spec, 'retry-after= needs status=');
  if (seed !== undefined && occurrence.kind !== 'probability') throw new FaultSpecError(spec, 'seed= needs p=');
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
    if (repeated) throw new FaultSpecError(spec, `"${text}" can't be combined with the parts before it`);
    Object.assign(read, part);
  }
  return read;
}

function parseMatch(spec: string, match: string): Pick<Fault, 'method' | 'path'> {
  const [, method = null, path = ''] = match.trim().match(/^(?:([A-Za-z]+|\*)\s+)?(\*|\/\S*)$/) ?? [];
  if (path === '') throw new FaultSpecError(spec, 'it needs a path such as /inventory/*, or *');
  return {
    method: method === null || method === '*' ? null : method.toUpperCase(),
    path: path === '*' ? null : path.slice(1).split('/'),
  };
}

export interface Injection {
  readonly delayMs: number;
  readonly harm: Harm | null;
}

const NOTHING: Injection = { delayMs: 0, harm: null };

/** The faults that one service injects. Each counts the requests that it matches. */
export class FaultSet {
  #armed: readonly { readonly fault: Fault; matched: bigint }[];

  /** @throws FaultSpecError for a fault that can't be parsed */
  constructor(specs: readonly string[]) {
    this.#armed = armed(specs);
  }

  /** @throws FaultSpecError for a fault that can't be parsed; then nothing is changed */
  replace(specs: readonly string[]): void {
    this.#armed = armed(specs);
  }

  /**
   * Returns the effect on this request: the total delay of all faults that take effect, and the harm of the first of
   * them that does harm.
   */
  draw(method: string, path: string): Injection {
    if (this.#armed.length === 0) return NOTHING;
    const matching = this.#armed.filter(({ fault }) => matches(fault, method, path));
    for (const one of matching) one.matched++;
    const struck = matching.filter(({ fault, matched }) => isDue(fault.occurrence, matched));
    return {
      delayMs: struck.reduce((sum, { fault, matched }) => sum + delayMs(fault, matched), 0),
      harm: struck.find(({ fault }) => fault.harm !== null)?.fault.harm ?? null,
    };
  }
}

function armed(specs: readonly string[]) {
  return specs.map((spec) => ({ fault: parseFault(spec), matched: 0n }));
}

function matches({ method, path }: Fault, ofRequest: string, target: string): boolean {
  if (method !== null && method !== ofRequest) return false;
  if (path === null) return true;
  const segments = target.slice(1).split('/');
  return segments.length === path.length && path.every((part, at) => part === '*' || part === segments[at]);
}

/** @param matched number of requests that the fault has matched, including this one */
function isDue(occurrence: Occurrence, matched: bigint): boolean {
  switch (occurrence.kind) {
    case 'always':
      return true;
    case 'every':
      return matched % BigInt(occurrence.n) === 0n;
    case 'first':
      return matched <= BigInt(occurrence.n);
    case 'probability':
      return randomAt(occurrence.seed, matched) < occurrence.p;
  }
}

/** Gives delays random numbers of their own: those that select requests would give rare faults only short delays. */
const DELAY_SEED = 0x5eed;

function delayMs({ delay, occurrence }: Fault, matched: bigint): number {
  if (delay === null) return 0;
  const seed = occurrence.kind === 'probability' ? occurrence.seed : 1;
  const share = randomAt(seed ^ DELAY_SEED, matched);
  return delay.least + Math.floor(share * (delay.most - delay.least + 1));
}
