import { hash, randomInt } from 'node:crypto';
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

/** Returns a new token for the administration port. It does not look like an API key. */
export function generateAdminToken(): string {
  return `adm_${randomText()}`;
}

function randomText(): string {
  return Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

/** Returns the SHA-256 of a key, in hex. Keys are stored and looked up by this digest only. */
export function digestOf(key: string): string {
  return hash('sha256', key);
}

/** Returns the id of a key for lists and logs: the beginning of its digest. */
export function keyIdOf(digest: string): string {
  return digest.slice(0, 12);
}

export function idOfKey(key: string): string {
  return keyIdOf(digestOf(key));
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
