import { expect, test } from 'vitest';
import { Controllers } from '../../src/api/exchange.ts';
import { send } from '../../src/api/send.ts';
import type { HttpRequest } from '../../src/api/transport.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';
import { type Governor, OvertakenError, type Permit } from '../../src/rate-limit/governor.ts';
import { createTestClock } from '../support/clock.ts';
import { answer, openServer } from './server.ts';

async function listen() {
  const { url, requests, connections } = await openServer(answer(200, '{}'));
  return { url, seen: () => ({ requests: requests.length, connections: connections.opened }) };
}

const { signal } = new AbortController();
const request = (url: string, leaving?: () => void): HttpRequest => ({
  method: 'GET',
  url,
  headers: {},
  signal,
  ...(leaving && { leaving }),
});
const read = async ({ body }: { body: AsyncIterable<Uint8Array> }) => {
  for await (const _chunk of body);
};

test('undici asks on the open connection, right before it writes', async () => {
  const { url, seen } = await listen();
  const transport = createUndiciTransport();
  let connectedBefore = 0;
  await read(
    await transport(
      request(url, () => {
        connectedBefore = seen().requests;
      }),
    ),
  );
  expect(connectedBefore).toBe(0);
  expect(seen()).toEqual({ requests: 1, connections: 1 });
});

test('what is kept back does not leave, and the connection serves the next request', async () => {
  const { url, seen } = await listen();
  const transport = createUndiciTransport();
  await read(await transport(request(url)));
  const keepBack = () => {
    throw new OvertakenError();
  };
  await expect(transport(request(url, keepBack))).rejects.toBeInstanceOf(OvertakenError);
  await read(await transport(request(url)));
  expect(seen()).toEqual({ requests: 2, connections: 1 });
});

test('a request that is overtaken on its way is admitted anew, and counts as never sent', async () => {
  const { url, seen } = await listen();
  const calls: string[] = [];
  let asked = 0;
  const admit = async (): Promise<Permit> => {
    calls.push('admit');
    return {
      leave: () => {
        asked += 1;
        if (asked === 1) throw new OvertakenError();
      },
      answered: ({ status }) => {
        calls.push(`answered ${status}`);
        return { retryAfter: undefined, written: Promise.resolve() };
      },
      lost: async () => void calls.push('lost'),
      unsent: async () => void calls.push('unsent'),
    };
  };
  const admitSeveral = async () => [await admit()] as const;
  const governor: Governor = { lastSeen: undefined, admit, admitSeveral, flush: async () => {} };
  const options = {
    governor,
    transport: createUndiciTransport(),
    clock: createTestClock(),
    timeout: 1000,
    interrupted: signal,
    controllers: new Controllers(),
    redact: (text: string) => text,
    random: () => 0,
  };
  const text = await send({ method: 'PATCH', url, headers: {}, repeatable: false }, options, (answer) =>
    answer.text({ most: 1000, of: 'PATCH' }),
  );
  expect(text).toBe('{}');
  expect(calls).toEqual(['admit', 'unsent', 'admit', 'answered 200']);
  expect(seen().requests).toBe(1);
  // No more than once for each try: it looks at the state and at files.
  expect(asked).toBe(2);
});
