const zero = 0x30;
const minus = 0x2d;
const billion = 1_000_000_000;

/** `00` to `99`. */
const pairs = Uint8Array.from(
  { length: 200 },
  (_, index) => zero + (index % 2 === 0 ? Math.floor(index / 20) : (index >> 1) % 10),
);

/** How many bytes `writeInteger` writes for head × 10⁹ + tail, both of the same sign. */
export function integerLength(head: number, tail: number): number {
  const sign = head < 0 || tail < 0 ? 1 : 0;
  return sign + (head === 0 ? digitCount(Math.abs(tail)) : digitCount(Math.abs(head)) + 9);
}

/**
 * Writes the integer head × 10⁹ + tail, both of the same sign, as ASCII digits. Heads are below 10¹⁰, tails below 10⁹.
 * @returns where it ends
 */
export function writeInteger(out: Uint8Array, at: number, head: number, tail: number): number {
  let start = at;
  if (head < 0 || tail < 0) {
    out[start] = minus;
    start += 1;
  }
  const low = Math.abs(tail);
  if (head === 0) return writeDigits(out, start, low, digitCount(low));
  return writeDigits(out, writeHead(out, start, Math.abs(head)), low, 9);
}

function writeHead(out: Uint8Array, at: number, head: number): number {
  if (head < billion) return writeDigits(out, at, head, digitCount(head));
  const top = Math.floor(head / billion);
  out[at] = zero + top;
  return writeDigits(out, at + 1, head - top * billion, 9);
}

/**
 * Writes an integer below 10⁹, two digits at a time. Multiplying is several times faster than dividing, and exact: the
 * double next to 0.01 lies above it, by too little to reach the next integer.
 */
function writeDigits(out: Uint8Array, at: number, value: number, count: number): number {
  let rest = value | 0;
  let end = at + count;
  while (end - at > 1) {
    const next = (rest * 0.01) | 0;
    const pair = (rest - next * 100) << 1;
    out[end - 2] = pairs[pair] ?? zero;
    out[end - 1] = pairs[pair + 1] ?? zero;
    rest = next;
    end -= 2;
  }
  if (end > at) out[at] = zero + rest;
  return at + count;
}

function digitCount(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < billion) return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
  return 10;
}
