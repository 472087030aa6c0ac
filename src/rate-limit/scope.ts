import { createHash } from 'node:crypto';

/** A name for a key at a service: a hash, since the key itself is written nowhere but in the configuration. */
export function scopeOf(service: string, key: string): string {
  return createHash('sha256').update(`${service}\n${key}`).digest('hex').slice(0, 32);
}
