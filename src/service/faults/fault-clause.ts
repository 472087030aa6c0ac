import type { Delay, Harm, Occurrence } from './fault.ts';

/** A fault specification that cannot be read. */
export class FaultSpecError extends Error {
  override readonly name = 'FaultSpecError';
  readonly spec: string;

  constructor(spec: string, reason: string) {
    super(`Fault "${spec}": ${reason}.`);
    this.spec = spec;
  }
}

/** What the parts of a specification say, each at most once. */
export interface Parts {
  readonly occurrence?: Occurrence;
  readonly seed?: number;
  readonly retryAfter?: string;
  readonly delay?: Delay;
  readonly harm?: Harm;
}

/** Reads one part: a name, or `name=value`. */
export function parsePart(spec: string, part: string): Parts {
  const [name = '', ...rest] = part.split('=');
  const read = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (read === undefined) throw new FaultSpecError(spec, `there is no "${name}"`);
  const result = read(rest.length === 0 ? null : rest.join('='));
  if (typeof result === 'string') throw new FaultSpecError(spec, `${name} ${result}`);
  return result;
}

/** Each gives the part, or what is wrong with its value. */
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
      return 'needs milliseconds, such as 250 or 100-500';
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
    if (headers.length === 0 || headers.includes('')) return 'needs names of headers, with commas between';
    return { harm: { kind: 'without', headers } };
  },
  reset: flag({ kind: 'reset' }),
  hang: flag({ kind: 'hang' }),
  truncate: flag({ kind: 'truncate' }),
  malform: flag({ kind: 'malform' }),
  'commit-then-drop': flag({ kind: 'commit-then-drop' }),
};

const MAX_DELAY_MS = 2 ** 31 - 1;

function counted(occurrence: (n: number) => Occurrence) {
  return (value: string | null): Parts | string => {
    const n = wholeNumber(value);
    return n === null || n === 0 ? 'needs a whole number from 1' : { occurrence: occurrence(n) };
  };
}

function flag(harm: Harm) {
  return (value: string | null): Parts | string => (value === null ? { harm } : 'takes no value');
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
