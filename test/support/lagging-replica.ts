import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { RunningService } from '../../src/service/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { portOf } from './servers.ts';

export type LaggingReplica = Awaited<ReturnType<typeof laggingReplica>>;

/**
 * Starts a gateway in front of a service. Reads through the gateway come from a replica that lags behind the service.
 * The gateway stops when the test is finished.
 */
export async function laggingReplica({ url, store }: RunningService, clock: Pick<Clock, 'monotonic'>) {
  /** The stock before each change, and when the change was passed on to the service. */
  let before: { readonly at: number; readonly stock: ReadonlyMap<string, number> }[] = [];
  let lag = 0;
  const stockNow = () => new Map(Array.from(store.items(), ({ petId, quantity }) => [`${petId}`, Number(quantity)]));
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', headers } = incoming;
    const sent = await buffer(incoming);
    if (method === 'PATCH') before.push({ at: clock.monotonic(), stock: stockNow() });
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const answer = await fetch(new URL(incoming.url ?? '', url), {
      method,
      redirect: 'manual',
      headers: { authorization, 'content-type': type },
      ...(method === 'PATCH' && { body: sent }),
    });
    let body = Buffer.from(await answer.arrayBuffer());
    const seen = before.find(({ at }) => at > clock.monotonic() - lag)?.stock;
    if (method === 'GET' && answer.ok && seen !== undefined) {
      // The body is edited as text, because JSON.parse does not keep all digits of an id.
      const older = (_item: string, petId: string) => `"petId":${petId},"quantity":${seen.get(petId)}`;
      body = Buffer.from(`${body}`.replace(/"petId":(-?\d+),"quantity":-?\d+/g, older));
    }
    const kept = [...answer.headers].filter(([name]) => !/^(content-length|transfer-encoding|connection)$/.test(name));
    outgoing.writeHead(answer.status, Object.fromEntries(kept)).end(body);
  };
  const server = createServer((incoming, outgoing) => {
    // The response breaks off where the service's does.
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    url: `http://127.0.0.1:${await portOf(server)}/v1`,
    /** From now on, reads lack the changes of the last `ms` milliseconds. */
    lagBy: (ms: number) => {
      lag = ms;
    },
    catchUp: () => {
      before = [];
    },
  };
}
