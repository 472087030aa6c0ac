import type { IncomingMessage } from 'node:http';
import { within } from '../bounded.ts';
import type { Service } from '../service.ts';
import type { Reply } from './routes.ts';

/** Answers what keeps the service running asks, without a token. Null for any other request. */
export type Probe = (request: IncomingMessage) => Promise<Reply | null>;

/**
 * - `GET /healthz`: 200 while the process answers
 * - `GET /readyz`: 200 while it is of use to clients; 503 when its store does not answer in time, and once it is about to stop
 */
export function createProbe(service: Service): Probe {
  let looking: Promise<boolean> | null = null;
  // One look for all who ask meanwhile: no number of them takes the connections from clients.
  const isUsable = () => {
    looking ??= service.store
      .check()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        looking = null;
      });
    return within(looking, false);
  };
  return async ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return null;
    if (url === '/healthz') return { status: 200, body: { status: 'ok' } };
    if (url !== '/readyz') return null;
    if (service.draining) return { status: 503, body: { status: 'draining' } };
    if (await isUsable()) return { status: 200, body: { status: 'ok' } };
    return { status: 503, body: { status: 'store_unavailable' } };
  };
}
