import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../service.ts';
import type { Reply } from './routes.ts';

/** A store that takes longer to answer is of no use to clients. */
const READY_MS = 2_000;

/**
 * What keeps the service running asks, without a token. Null for any other request.
 *
 * - `GET /healthz`: 200 while the process answers
 * - `GET /readyz`: 200 while it is of use to clients; 503 when its store does not answer, and once it is about to stop
 */
export async function probe({ method, url }: IncomingMessage, service: Service): Promise<Reply | null> {
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (url === '/healthz') return { status: 200, body: { status: 'ok' } };
  if (url !== '/readyz') return null;
  if (service.draining) return { status: 503, body: { status: 'draining' } };
  const isUsable = await Promise.race([
    service.store.check().then(
      () => true,
      () => false,
    ),
    sleep(READY_MS, false, { ref: false }),
  ]);
  return isUsable ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'store_unavailable' } };
}
