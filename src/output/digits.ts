const zero = 0x30;
const minus = 0x2d;
const million = 1_000_000;
const billion = 1_000_000_000;

/** What writes four bytes at a time may write so many behind the last that mean nothing. */
export const slack = 3;

/** By value: `000` to `999` as the bytes of an integer, the first byte the lowest. */
const threeDigits = new Uint32Array(1000);
/** The same without zeros in front. */
const fewDigits = new Uint32Array(1000);

// By arithmetic: every command with output makes these, and by strings they take 4 ms.
for (let value = 0; value < 1000; value += 1) {
  const three = packed(value / 100, (value / 10) % 10, value % 10);
  threeDigits[value] = three;
  fewDigits[value] = three >>> (value < 10 ? 16 : value < 100 ? 8 : 0);
}

function packed(hundreds: number, tens: number, ones: number): number {
  return (zero + (hundreds | 0)) | ((zero + (tens | 0)) << 8) | ((zero + ones) << 16);
}

/** How many bytes `writeInteger` writes for head × 10⁹ + tail, both of the same sign. */
export function integerLength(head: number, tail: number): number {
  const sign = head < 0 || tail < 0 ? 1 : 0;
  return sign + (head === 0 ? digitCount(Math.abs(tail)) : digitCount(Math.abs(head)) + 9);
}

/**
 * Writes the integer head × 10⁹ + tail, both of the same sign, as ASCII digits. Heads are below 10¹⁰, tails below 10⁹.
 * Behind the digits there must be room for `slack` bytes.
 *
 * @returns where it ends
 */
export function writeInteger(out: DataView, at: number, head: number, tail: number): number {
  let start = at;
  if (head < 0 || tail < 0) {
    out.setUint8(start, minus);
    start += 1;
  }
  const low = Math.abs(tail) | 0;
  if (head === 0) return writeDigits(out, start, low);
  return writeNine(out, writeHead(out, start, Math.abs(head)), low);
}

/** Writes a safe integer. There must be room as for `writeInteger`. @returns where it ends */
export function writeQuantity(out: DataView, at: number, quantity: number): number {
  if (quantity < billion && quantity > -billion) return writeInteger(out, at, 0, quantity);
  const head = Math.trunc(quantity / billion);
  return writeInteger(out, at, head, quantity - head * billion);
}

function writeHead(out: DataView, at: number, head: number): number {
  if (head < billion) return writeDigits(out, at, head | 0);
  const top = Math.floor(head / billion);
  out.setUint8(at, zero + top);
  return writeNine(out, at + 1, (head - top * billion) | 0);
}

/**
 * Writes an integer below 10⁹, three digits at a time. Multiplying is several times faster than dividing, and exact: the
 * doubles next to 0.001 and 0.000001 lie above them, by too little to reach the next integer.
 */
function writeDigits(out: DataView, at: number, value: number): number {
  if (value < 1000) return writeFew(out, at, value);
  const thousands = (value * 0.001) | 0;
  const last = value - thousands * 1000;
  if (value < million) return writeThree(out, writeFew(out, at, thousands), last);
  const millions = (thousands * 0.001) | 0;
  const end = writeThree(out, writeFew(out, at, millions), thousands - millions * 1000);
  return writeThree(out, end, last);
}

/** Nine digits, zeros in front. */
function writeNine(out: DataView, at: number, value: number): number {
  const thousands = (value * 0.001) | 0;
  const millions = (thousands * 0.001) | 0;
  writeThree(out, at, millions);
  writeThree(out, at + 3, thousands - millions * 1000);
  return writeThree(out, at + 6, value - thousands * 1000);
}

function writeThree(out: DataView, at: number, value: number): number {
  out.setUint32(at, threeDigits[value] ?? 0, true);
  return at + 3;
}

/** An integer below 1000 without zeros in front. */
function writeFew(out: DataView, at: number, value: number): number {
  out.setUint32(at, fewDigits[value] ?? 0, true);
  return at + (value < 10 ? 1 : value < 100 ? 2 : 3);
}

function digitCount(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < million) return value < 100_000 ? 5 : 6;
  if (value < billion) return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
  return 10;
}
