const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

export function isInt64(value: bigint): boolean {
  return SMALLEST <= value && value <= LARGEST;
}

/**
 * The int64 that the text of a JSON number stands for, exactly: 5, 5.0 and 0.5e1 are the same integer.
 * Null when it has a fraction or is too large. However large the exponent, no more than 19 digits are worked with.
 */
export function exactInt64(number: string): bigint | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    number.match(/^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/) ?? [];
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return whole === '' ? null : 0n;
  const zeros = Number(exponent) - fraction.length + (significant.length - digits.length);
  if (zeros < 0 || digits.length + zeros > 19) return null;
  const value = BigInt(`${sign}${digits}${'0'.repeat(zeros)}`);
  return isInt64(value) ? value : null;
}
