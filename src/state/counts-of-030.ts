import type { Answer } from './statements.ts';

/** The open session of a stock count in 0.3.0. */
export interface CountOf030 {
  readonly session: string;
  /** JSON of what the session is for. */
  readonly head: string;
  /** The records of the session, in order. */
  readonly scans: readonly Answer[];
}

interface Head {
  readonly at: number;
  readonly env: string;
  readonly mode: 'count' | 'add' | 'take';
  readonly label?: string;
  readonly user?: string;
}

/** Queries for the open sessions, and for the records of one. */
export const openCountsOf030 = 'SELECT session, head FROM counts WHERE ended IS NULL ORDER BY at, session';
export const scansOf030 = 'SELECT kind, units, code, pet FROM count_scans WHERE session = ? ORDER BY number';

/**
 * Returns a session as a file of scans, which `inventory count` reads. A line for each pet and code has its sum. What
 * needs a decision is a comment: units of a pet whose count was already written, and units that a run may have written.
 */
export function scanFileOf({ session, head: text, scans }: CountOf030): {
  readonly name: string;
  readonly text: string;
} {
  const head = JSON.parse(text) as Head;
  const name = session.slice(-4);
  const balance = new Balance();
  for (const scan of scans) balance.take(scan);
  const mode = head.mode === 'count' ? '' : ` --${head.mode}`;
  const label = head.label === undefined ? '' : ` "${head.label.replace(/\s+/g, ' ')}"`;
  const lines = [
    `# petstock inventory count${mode}, begun ${new Date(head.at).toISOString()}`,
    `# session ${name}${label} of petstock 0.3.0, in ${head.env}${head.user === undefined ? '' : `, by ${head.user}`}`,
  ];
  const { sums, written, unclear } = balance;
  for (const [what, units] of sums) {
    if (head.mode === 'count' && written.has(what)) {
      if (units !== 0) lines.push(`# pet ${what} was written, and then ${units} more were counted`);
    } else lines.push(units > 0 && units <= 99_999 ? `${what} x${units}` : `= ${what} ${units}`);
  }
  for (const [what, units] of unclear) lines.push(`# ${units} of pet ${what} may have been written: history list`);
  return { name: `count-${name}.txt`, text: `${lines.join('\n')}\n` };
}

/** What is left to write of each pet and code of a session. */
class Balance {
  readonly sums = new Map<string, number>();
  /** Pets whose count was written. */
  readonly written = new Set<string>();
  /** Units that a run was about to take, by pet. */
  readonly unclear = new Map<string, number>();
  readonly #assigned = new Map<string, string>();
  readonly #steps: (readonly [what: string, was: number | undefined])[] = [];

  take({ kind, units: number, code, pet }: Answer): void {
    const units = Number(number ?? 0);
    const what = pet === null ? (this.#assigned.get(String(code)) ?? String(code)) : String(pet);
    const kinds: Readonly<Record<string, () => void>> = {
      add: () => this.#step(what, this.#unitsOf(what) + units),
      set: () => {
        this.written.delete(what);
        this.#step(what, units);
      },
      back: () => this.#put(...(this.#steps.pop() ?? ['', undefined])),
      base: () => this.#put(what, this.#unitsOf(what) + units),
      code: () => this.#assign(String(code), pet === null ? undefined : what),
      given: () => {
        this.#steps.length = 0;
        this.unclear.set(what, units);
        this.#put(what, this.#unitsOf(what) - units || undefined);
      },
      run: () => {
        for (const given of this.unclear.keys()) this.written.add(given);
        this.unclear.clear();
      },
      again: () => {
        this.written.delete(what);
        this.#put(what, undefined);
      },
      settled: () => {
        // Units that are still given belong to a run that never began.
        for (const [given, left] of this.unclear) this.#put(given, this.#unitsOf(given) + left);
        this.unclear.clear();
      },
    };
    kinds[String(kind)]?.();
  }

  /** Assigns a code to a pet, with the units that it has so far. */
  #assign(code: string, pet: string | undefined): void {
    if (pet === undefined) this.#assigned.delete(code);
    else this.#assigned.set(code, pet);
    const held = this.sums.get(code);
    if (pet === undefined || held === undefined) return;
    this.#put(code, undefined);
    this.#put(pet, this.#unitsOf(pet) + held);
  }

  #unitsOf(what: string): number {
    return this.sums.get(what) ?? 0;
  }

  #step(what: string, units: number): void {
    this.#steps.push([what, this.sums.get(what)]);
    this.#put(what, units);
  }

  #put(what: string, units: number | undefined): void {
    if (units === undefined) this.sums.delete(what);
    else this.sums.set(what, units);
  }
}
