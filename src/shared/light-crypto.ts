import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import process from 'node:process';

/**
 * Returns so many random bytes of the system: by the device for it, or by Node's crypto, which takes 10 M instructions to load,
 * if there is none.
 */
export function randomBytes(count: number, device = '/dev/urandom'): Buffer {
  return fromDevice(count, device) ?? process.getBuiltinModule('node:crypto').randomBytes(count);
}

function fromDevice(count: number, device: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(device, 'r');
    const bytes = Buffer.alloc(count);
    // Anything else of that name would say the same each time.
    return fstatSync(file).isCharacterDevice() && readSync(file, bytes) === count ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The first 32 bits of the fractions of the square roots of the first 8 primes, and of the cube roots of the first 64. */
const begin = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19] as const;
const rounds = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

/**
 * Returns the SHA-256 of a text in UTF-8, in hexadecimal. For the one line that a start hashes: to load Node's crypto takes 10 M
 * instructions, of 276 M for `inventory list` (Node 20), while this takes 2 or so.
 */
export function sha256(text: string): string {
  const bytes = Buffer.from(text);
  const padded = Buffer.alloc((bytes.length + 9 + 63) & ~63);
  bytes.copy(padded);
  padded[bytes.length] = 0x80;
  padded.writeBigUInt64BE(BigInt(bytes.length) * 8n, padded.length - 8);
  const state = Uint32Array.from(begin);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = padded.readUInt32BE(at + index * 4);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** @param words the 16 of the block, and place for 48 that are made of them */
function compress(state: Uint32Array, words: Uint32Array): void {
  for (let index = 16; index < 64; index += 1) {
    const early = words[index - 15] as number;
    const late = words[index - 2] as number;
    words[index] =
      (words[index - 16] as number) +
      (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) +
      (words[index - 7] as number) +
      (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index += 1) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const added = (rounds[index] as number) + (words[index] as number);
    const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + added;
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
    // An assignment to all of them at once takes longer than all else.
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + value;
}

/** Returns a word turned to the right by so many bits. */
function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
