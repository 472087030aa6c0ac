import { expect, test } from 'vitest';
import { send } from '../../src/api/request.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';
import { type Permit, PermitExpiredError } from '../../src/rate-limit/permits.ts';
import { createTestClock } from '../support/clock.ts';
import { answer, openServer } from './server.ts';

const { signal } = new AbortController();

async function listen() {
  const { url, requests, connections } = await openServer(answer(200, '{}'));
  const transport = createUndiciTransport();
  const ask = async (leaving: () => void) => {
    const { body } = await transport({ method: 'GET', url, headers: {}, signal, leaving });
    for await (const _chunk of body);
  };
  return { url, transport, ask, seen: () => ({ requests: requests.length, connections: connections.opened }) };
}

test('calls back before a request is written, and does not send the request if the callback throws', async () => {
  const { ask, seen } = await listen();
  let sentBefore = -1;
  await ask(() => {
    sentBefore = seen().requests;
  });
  expect(sentBefore).toBe(0);
  const keepBack = () => {
    throw new PermitExpiredError();
  };
  await expect(ask(keepBack)).rejects.toBeInstanceOf(PermitExpiredError);
  await ask(() => {});
  expect(seen()).toEqual({ requests: 2, connections: 1 });
});

test('admits a request again if its permit expired before sending, and releases the first permit', async () => {
  const { url, transport, seen } = await listen();
  const calls: string[] = [];
  let asked = 0;
  const admit = async (): Promise<Permit> => {
    calls.push('admit');
    return {
      beginSend: () => {
        asked += 1;
        if (asked === 1) throw new PermitExpiredError();
      },
      recordResponse: ({ status }) => {
        calls.push(`answered ${status}`);
        return { retryAfter: undefined, persisted: Promise.resolve() };
      },
      forfeit: async () => void calls.push('lost'),
      release: async () => void calls.push('unsent'),
    };
  };

  const options = {
    limits: { admitOne: admit },
    transport,
    clock: createTestClock(),
    timeout: 1000,
    interrupted: signal,
    baseUrl: 'http://127.0.0.1:1/v1',
    redact: (text: string) => text,
    random: () => 0,
  };
  const text = await send({ method: 'PATCH', url, headers: {}, kind: 'write' }, options, (answer) =>
    answer.text({ most: 1000, of: 'PATCH' }),
  );
  expect(text).toBe('{}');
  expect(calls).toEqual(['admit', 'unsent', 'admit', 'answered 200']);
  expect(seen().requests).toBe(1);
  // The check runs only once per attempt, because it reads the state and files.
  expect(asked).toBe(2);
});
