import type { Transport, TransportOptions } from '../../src/api/transport.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';

/** The transport of the program, or, in vitest's project `public-undici`, the same over undici's public entry. */
export function openTransport(options: TransportOptions = {}): Transport {
  return process.env.UNDICI === 'public'
    ? createUndiciTransport(options, () => import('undici'))
    : createUndiciTransport(options);
}
