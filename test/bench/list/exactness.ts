import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { WrongResult } from '../support/rounds.ts';
import type { Expected } from './expected.ts';

/** A word with a letter that is not ASCII is a status, too. */
const numbersAndStatuses =
  /-?[\d.]+(?:e[+-]?\d+)?|\b(?:available|pending|sold)\b|[a-z]*[\u0080-\uffff][a-z\u0080-\uffff]*/gi;

/**
 * Whether an output has exactly the rows that it should have, in their order: every digit of every id. Whatever the
 * format, the numbers and statuses of a line are its row; a line without any is a head.
 *
 * @throws WrongResult when it does not
 */
export async function requireExact(path: string, expected: Expected, pets: number): Promise<void> {
  const wanted = digestOf(expected, pets);
  const found = new Digest();
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const values = line.match(numbersAndStatuses);
    if (values !== null) found.add(values.join(' '));
  }
  if (found.rows !== wanted.rows) throw new WrongResult(`${found.rows} rows, not ${wanted.rows}`);
  if (found.hash() !== wanted.hash) throw new WrongResult('wrong ids');
}

interface Wanted {
  readonly rows: number;
  readonly hash: string;
}

const digests = new Map<string, Wanted>();

/** Made once for each, since several outputs should have the same rows. */
function digestOf(expected: Expected, pets: number): Wanted {
  const name = `${expected.name} of ${pets}`;
  const known = digests.get(name);
  if (known !== undefined) return known;
  const digest = new Digest();
  for (const row of expected(pets)) digest.add(row);
  const wanted = { rows: digest.rows, hash: digest.hash() };
  digests.set(name, wanted);
  return wanted;
}

/** How many rows, and a hash over all of them in their order. */
class Digest {
  rows = 0;
  readonly #hash = createHash('sha256');
  #gathered = '';

  add(row: string): void {
    this.rows += 1;
    this.#gathered += `${row}\n`;
    if (this.#gathered.length > 2 ** 16) this.#flush();
  }

  /** Once, at the end. */
  hash(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#gathered);
    this.#gathered = '';
  }
}
