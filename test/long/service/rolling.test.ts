import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey, type RunningService, startService } from '../../../src/service/index.ts';
import { temporaryFile } from '../../service/support.ts';

/** How often the balancer checks readiness, and how long a replica that it no longer uses stays open. */
const [POLL_MS, DRAIN_MS] = [50, 400];

interface Replica {
  service: RunningService;
  isReady: boolean;
  readonly agent: Agent;
}

/** Sends each request to the next ready replica, on kept connections, and never retries. */
function balancer(replicas: readonly Replica[], failures: string[]): Server {
  let turn = 0;
  return createServer((incoming, outgoing) => {
    const ready = replicas.filter(({ isReady }) => isReady);
    const replica = ready[turn++ % ready.length];
    if (replica === undefined) return void outgoing.writeHead(503).end();
    const { url, method, headers } = incoming;
    const { origin } = new URL(replica.service.url);
    const forwarded = request(`${origin}${url}`, { method, headers, agent: replica.agent }, (answer) => {
      const { connection: _hop, ...headers } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 0, headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', (error) => {
      failures.push(`${method} ${error.message}`);
      outgoing.destroy();
    });
    incoming.pipe(forwarded);
  });
}

test('loses no request of keep-alive clients in two rolling restarts of three replicas', async () => {
  const [file, key, failures] = [temporaryFile(), generateKey(), [] as string[]];
  const limits = { minute: 10_000_000, day: 10_000_000 };
  const open = (port = 0, adminPort = 0) => startService({ file, key, limits, clock: Date, port, adminPort });
  const replicas: Replica[] = [];
  for (let count = 0; count < 3; count++) {
    replicas.push({ service: await open(), isReady: true, agent: new Agent({ keepAlive: true, maxSockets: 20 }) });
  }
  const server = balancer(replicas, failures).listen(0, '127.0.0.1');
  // The default of 5 s would disconnect clients that a busy machine delays.
  server.keepAliveTimeout = 60_000;
  await once(server, 'listening');
  let isOver = false;
  onTestFinished(async () => {
    isOver = true;
    server.close();
    server.closeAllConnections();
    for (const { service, agent } of replicas) {
      agent.destroy();
      await service.close();
    }
  });
  const poll = async (replica: Replica) => {
    while (!isOver) {
      const probed = await fetch(`${replica.service.adminUrl}/readyz`).catch(() => undefined);
      replica.isReady = probed?.ok === true;
      await sleep(POLL_MS);
    }
  };
  for (const replica of replicas) void poll(replica);
  let [answered, isDone] = [0, false];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const load = async (client: number) => {
    for (let sent = 0; !isDone; sent++) {
      const [path, what] =
        sent % 2 === 0 ? [`/${client + 1}`, { method: 'PATCH', body: `{"quantity":${sent}}` }] : ['', {}];
      try {
        const answer = await fetch(`${url}/inventory${path}`, { headers, ...what });
        await answer.arrayBuffer();
        if (answer.status !== 200) failures.push(`${answer.status}`);
        answered++;
      } catch (error) {
        failures.push(`client: ${(error as Error).message}`);
      }
    }
  };
  const clients = Array.from({ length: 12 }, (_, client) => load(client));
  for (let round = 0; round < 2; round++) {
    for (const replica of replicas) {
      const { port } = new URL(replica.service.url);
      const { port: adminPort } = new URL(replica.service.adminUrl ?? '');
      replica.service.drain();
      // The balancer may notice this late on a busy machine.
      await expect.poll(() => replica.isReady).toBe(false);
      await sleep(DRAIN_MS);
      await replica.service.close();
      replica.service = await open(Number(port), Number(adminPort));
      await expect.poll(() => replica.isReady).toBe(true);
    }
  }
  isDone = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(100);
});
