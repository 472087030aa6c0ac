import type { StatusNames } from '../../inventory/item-columns.ts';
import { byte, unread } from './bytes.ts';
import { textEnd } from './text.ts';

/** Both are powers of two. */
const beginnings = 256;
const spellings = 4096;
/** Longer texts, in bytes, are made a string each time. */
const longest = 256;

/** A status as it was spelled: with its quotes. */
interface Spelling {
  readonly bytes: Uint8Array;
  readonly code: number;
}

/**
 * Finds the code of a status by its bytes. There are few statuses and many items: each spelling is made a string only
 * once, and known again by its bytes. They are compared with those of the last one with the same beginning, and then looked up
 * by a hash over all of them.
 */
export class StatusReader {
  /** The status that `read` has found. */
  code = 0;
  #names: StatusNames | undefined;
  readonly #byBeginning = new Array<Spelling | undefined>(beginnings).fill(undefined);
  readonly #byHash = new Map<number, Spelling>();

  /**
   * Reads the text whose opening quote is at `start`.
   * @returns the place behind the closing quote, or `unread` if it is no legal text, or has no end
   */
  read(bytes: Uint8Array, start: number, names: StatusNames): number {
    if (names !== this.#names) this.#forget(names);
    const slot = slotOf(bytes, start);
    const known = this.#byBeginning[slot];
    if (known === undefined || !startsWith(bytes, start, known.bytes)) return this.#lookUp(bytes, start, slot, names);
    this.code = known.code;
    return start + known.bytes.length;
  }

  #forget(names: StatusNames): void {
    this.#names = names;
    this.#byBeginning.fill(undefined);
    this.#byHash.clear();
  }

  #lookUp(bytes: Uint8Array, start: number, slot: number, names: StatusNames): number {
    const end = bytes[start] === byte.quote ? textEnd(bytes, start) : unread;
    if (end === unread) return unread;
    if (end - start > longest) {
      this.code = names.codeOf(decode(bytes, start, end));
      return end;
    }
    const hashSlot = hashOf(bytes, start, end) & (spellings - 1);
    let spelling = this.#byHash.get(hashSlot);
    if (spelling === undefined || !startsWith(bytes, start, spelling.bytes)) {
      spelling = { bytes: bytes.slice(start, end), code: names.codeOf(decode(bytes, start, end)) };
      this.#byHash.set(hashSlot, spelling);
    }
    this.#byBeginning[slot] = spelling;
    this.code = spelling.code;
    return end;
  }
}

/** A text that was checked, from its opening quote to behind the closing one. */
function decode(bytes: Uint8Array, start: number, end: number): string {
  const inner = Buffer.from(bytes.buffer, bytes.byteOffset + start + 1, end - start - 2).toString();
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}

function slotOf(bytes: Uint8Array, start: number): number {
  return ((bytes[start + 1] ?? 0) * 31 + (bytes[start + 2] ?? 0)) & (beginnings - 1);
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

function startsWith(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let index = 0; index < known.length; index += 1) {
    if (bytes[start + index] !== known[index]) return false;
  }
  return true;
}
