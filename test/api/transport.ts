import type { Transport, TransportOptions } from '../../src/api/transport.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';

/** Opens the program's transport, or, in vitest's project `public-undici`, one that uses undici's public entry. */
export function openTransport(options: TransportOptions = {}): Transport {
  return process.env.UNDICI === 'public'
    ? createUndiciTransport(options, () => import('undici'))
    : createUndiciTransport(options);
}
