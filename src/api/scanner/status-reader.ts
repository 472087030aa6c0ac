import type { StatusNames } from '../../inventory/item-columns.ts';
import { byte, notPlain } from './bytes.ts';

const slots = 256;

/**
 * Finds the code of a status by its bytes. There are few statuses and many items: each is made a string only once, and
 * known again by its bytes, which are compared with those of the last one that began alike.
 */
export class StatusReader {
  /** What `read` has found. */
  code = 0;
  #names: StatusNames | undefined;
  /** By how it begins: a text with its quotes, and its code. */
  readonly #texts: (Uint8Array | undefined)[] = Array.from({ length: slots });
  readonly #codes = new Uint32Array(slots);

  /**
   * Reads the text whose opening quote is at `start`.
   * @returns the place behind the closing quote, or `notPlain` where the text is not plain ASCII, or has no end
   */
  read(bytes: Uint8Array, start: number, names: StatusNames): number {
    if (names !== this.#names) this.#forget(names);
    const slot = slotOf(bytes, start);
    const known = this.#texts[slot];
    if (known === undefined || !startsWith(bytes, start, known)) return this.#learn(bytes, start);
    this.code = this.#codes[slot] ?? 0;
    return start + known.length;
  }

  #forget(names: StatusNames): void {
    this.#names = names;
    this.#texts.fill(undefined);
  }

  #learn(bytes: Uint8Array, start: number): number {
    const end = bytes[start] === byte.quote ? plainEnd(bytes, start + 1) : notPlain;
    if (end === notPlain) return notPlain;
    const slot = slotOf(bytes, start);
    const known = bytes.slice(start, end);
    this.code = this.#names?.codeOf(Buffer.from(known.subarray(1, -1)).toString('latin1')) ?? 0;
    this.#texts[slot] = known;
    this.#codes[slot] = this.code;
    return end;
  }
}

function slotOf(bytes: Uint8Array, start: number): number {
  return ((bytes[start + 1] ?? 0) * 31 + (bytes[start + 2] ?? 0)) % slots;
}

function startsWith(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let index = 0; index < known.length; index += 1) {
    if (bytes[start + index] !== known[index]) return false;
  }
  return true;
}

function plainEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; ; at += 1) {
    const value = bytes[at] ?? 0;
    if (value === byte.quote) return at + 1;
    if (value < byte.space || value > byte.tilde || value === byte.backslash) return notPlain;
  }
}
