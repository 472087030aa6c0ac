import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Returns the token of an `Authorization: Bearer <token>` field; null if the field is absent, empty or has another
 * scheme.
 */
export function bearerToken(authorization: string | undefined): string | null {
  return authorization?.match(/^bearer +(\S.*)$/i)?.[1]?.trim() ?? null;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/**
 * Returns a new API key: `psk_`, 30 random base62 characters (178 bits), and a checksum of 6 characters that reveals a
 * typing error.
 */
export function generateKey(): string {
  const random = randomText();
  return `psk_${random}${checksum(random)}`;
}

function randomText(): string {
  return Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

/** Returns a function that reports whether a token is the key, in a time that does not depend on where they differ. */
export function keyChecker(key: string): (token: string) => boolean {
  const expected = Buffer.from(key);
  return (token) => {
    const bytes = Buffer.from(token);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  };
}

/** Returns the SHA-256 of a key. Only this digest is stored. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
