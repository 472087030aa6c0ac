import { getEventListeners } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { createClient } from '../../src/api/client.ts';
import type { HttpRequest } from '../../src/api/transport.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import type { Deadline } from '../../src/shared/clock.ts';
import { createRig } from '../rate-limit/rig.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { type Answerer, openServer } from './server.ts';

export interface ClientRigOptions {
  readonly url: string;
  readonly key?: string;
  readonly clock?: TestClock;
  readonly interrupted?: AbortSignal;
  readonly maxWait?: number;
  readonly random?: number;
  readonly retries?: number | undefined;
  /** Called once the request was passed to the transport. */
  readonly onSend?: (request: HttpRequest) => void;
  readonly onSleep?: (ms: number) => void;
}

export const key = 'psk_test_0123456789';

/** Creates a client with real sockets. When the test is finished, it may leave no timer and no listener. */
export function createClientRig(options: ClientRigOptions) {
  const { url, clock = createTestClock(), interrupted = new AbortController().signal, random = 0.5 } = options;
  const deadlines = new Set<Deadline>();
  const watched = {
    ...clock,
    sleep: (ms: number, signal?: AbortSignal) => {
      options.onSleep?.(ms);
      return clock.sleep(ms, signal);
    },
    deadline: (ms: number, onPassed: () => void) => {
      const deadline = clock.deadline(ms, onPassed);
      deadlines.add(deadline);
      return {
        clear: () => {
          deadlines.delete(deadline);
          deadline.clear();
        },
      };
    },
  };
  const { limits } = createRig({ clock: watched, maxWait: options.maxWait ?? 90_000, random: () => random });
  const times: number[] = [];
  const transport = createUndiciTransport();
  const client = createClient({
    retries: options.retries,
    baseUrl: url,
    key: options.key ?? key,
    userAgent: 'petstock/1.2.3',
    transport: (request) => {
      times.push(clock.monotonic());
      const response = transport(request);
      options.onSend?.(request);
      return response;
    },
    limits,
    clock: watched,
    timeout: 30_000,
    interrupted,
    random: () => random,
  });
  onTestFinished(() => {
    expect(deadlines.size).toBe(0);
    expect(getEventListeners(interrupted, 'abort')).toEqual([]);
  });
  const permit = () => limits.admitOne(new AbortController().signal);
  return {
    client,
    update: async (quantity: number, petId = 7n) => client.updateInventory(petId, quantity, { permit: await permit() }),
    /** Sends any request, and collects the body of its response. */
    request: async (method: string, path: string, body?: string) => {
      const chunks: Uint8Array[] = [];
      const head = await client.stream(
        { method, path, body },
        async (chunk) => void chunks.push(Uint8Array.from(chunk)),
      );
      return { ...head, body: Buffer.concat(chunks) };
    },
    limits,
    clock,
    permit,
    /** When each request was sent, by the monotonic clock, from 0 for the first. */
    sentAt: () => times.map((time) => time - (times[0] ?? 0)),
    list: async () => {
      const items: InventoryItem[] = [];
      for await (const batch of client.scanInventory()) items.push(...batch);
      return items;
    },
  };
}

/** Opens a server that sends these responses in turn, the last one repeatedly, and a client for it. */
export async function openClient(answers: readonly Answerer[], options: Omit<ClientRigOptions, 'url'> = {}) {
  const server = await openServer(...answers);
  return { server, ...createClientRig({ ...options, url: server.url }) };
}
