import { createHash } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createUndiciTransport } from '../../src/api/undici.ts';
import fc, { property, propertyRuns } from '../support/properties.ts';
import { pem } from '../support/tls.ts';
import { turns, until } from './server.ts';

const { signal } = new AbortController();

/** Opens a service that calls `onRequest` for each request. */
async function openService(isTls: boolean, onRequest: (socket: Socket) => Promise<void>) {
  const connections: Socket[] = [];
  const serve = (socket: Socket) => {
    connections.push(socket);
    socket.setNoDelay().on('error', () => {});
    socket.on('data', () => void onRequest(socket));
  };
  const server: Server = isTls
    ? createTlsServer({ cert: pem('server'), key: pem('server-key') }, serve)
    : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport({ ca: [pem('authority')] });
  const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const close = () => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  return { connections, close, get: () => transport({ method: 'GET', url, headers: {}, signal }) };
}

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Returns bytes in which each group of four is different, so that misplaced bytes are noticed. */
function bodyOf(size: number): Buffer {
  const body = Buffer.alloc(size + 4);
  for (let at = 0; at < size; at += 4) body.writeUInt32LE(Math.imul(at + 1, 0x9e3779b1) >>> 0, at);
  return body.subarray(0, size);
}

const framings: Readonly<Record<string, (body: Buffer) => readonly [header: string, framed: Buffer]>> = {
  length: (body) => [`content-length: ${body.length}`, body],
  chunked: (body) => {
    const [first, rest] = [body.subarray(0, 70_000), body.subarray(70_000)];
    const frames = [first, rest].filter(({ length }) => length > 0);
    const framed = frames.flatMap((frame) => [
      Buffer.from(`${frame.length.toString(16)}\r\n`),
      frame,
      Buffer.from('\r\n'),
    ]);
    return ['transfer-encoding: chunked', Buffer.concat([...framed, Buffer.from('0\r\nx-trailer: t\r\n\r\n')])];
  },
};

const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const interims: Readonly<Record<string, string>> = {
  none: '',
  hint,
  'hint, twice': `${hint}${hint}`,
};

const noAnswer = { size: 0, framing: 'length', cuts: [], early: 'none' };

const sizes = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(65_536, 262_144, 700_000, 1_500_000));
const answers = fc.array(
  fc.record({
    size: sizes,
    framing: fc.constantFrom(...Object.keys(framings)),
    /** Positions at which the head and the beginning of the body are split. */
    cuts: fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 5 }),
    /** How many turns of the event loop the reader waits before each chunk. */
    slow: fc.constantFrom(0, 1, 5),
    early: fc.constantFrom(...Object.keys(interims)),
  }),
  { minLength: 1, maxLength: 4 },
);

property(
  'returns headers and bodies as sent, however they are split and however slow the reader is',
  [fc.boolean(), answers],
  { ...propertyRuns(12, 1 / 10), testTimeout: 60_000 },
  async (isTls, wanted) => {
    let answered = 0;
    const service = await openService(isTls, async (socket) => {
      const { size, framing, cuts, early } = wanted[answered++] ?? noAnswer;
      const [header, framed] = framings[framing]?.(bodyOf(size)) ?? [];
      const first = interims[early] ?? '';
      const head = `${first}HTTP/1.1 200 OK\r\nx-one: first value\r\n${header}\r\nx-two: second value\r\n\r\n`;
      const bytes = Buffer.concat([Buffer.from(head), framed ?? Buffer.alloc(0)]);
      let from = 0;
      // Interim responses arrive whole, because they are shorter than any packet.
      for (const cut of cuts.map((at) => first.length + at).sort((a, b) => a - b)) {
        socket.write(bytes.subarray(from, cut));
        from = Math.min(cut, bytes.length);
        await turns(3);
      }
      socket.write(bytes.subarray(from));
    });
    try {
      for (const { size, slow } of wanted) {
        const { status, headers, body } = await service.get();
        expect([status, headers['x-one'], headers['x-two']]).toEqual([200, 'first value', 'second value']);
        const chunks: Buffer[] = [];
        for await (const chunk of body) {
          await turns(slow);
          chunks.push(Buffer.from(chunk));
        }
        expect(hashOf(Buffer.concat(chunks))).toBe(hashOf(bodyOf(size)));
      }
      expect(service.connections).toHaveLength(1);
    } finally {
      service.close();
    }
  },
);

/** Opens a service that sends this body at once. It is closed when the test is finished. */
async function openServiceWith(body: Buffer, isTls: boolean) {
  const service = await openService(isTls, async (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
  onTestFinished(service.close);
  return service;
}

test.each([
  ['HTTP', false],
  ['HTTPS', true],
])('notices over %s that the service has closed a connection after a slowly read body', async (_name, isTls) => {
  const service = await openServiceWith(bodyOf(3_000_000), isTls);
  for (let request = 1; request <= 2; request += 1) {
    let length = 0;
    for await (const chunk of (await service.get()).body) {
      await turns(20);
      length += chunk.length;
    }
    expect(length).toBe(3_000_000);
    // The transport closes its end once it has seen that the service's end is closed.
    const [socket] = service.connections.slice(-1);
    socket?.end();
    await until(() => socket?.destroyed === true);
    expect(service.connections).toHaveLength(request);
  }
});

test('stops reading from a connection while nobody reads the body', async () => {
  const service = await openServiceWith(Buffer.alloc(64 * 1024 * 1024), false);
  const response = await service.get();
  const [socket] = service.connections;
  const unsent = () => socket?.writableLength ?? 0;
  const before = process.memoryUsage().arrayBuffers;
  let [last, same] = [-1, 0];
  while (same < 200) {
    await turns(5);
    same = unsent() === last ? same + 1 : 0;
    last = unsent();
  }
  expect(unsent()).toBeGreaterThan(0);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  response.discard();
});
