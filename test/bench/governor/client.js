/**
 * One process of one client: is told what to write, says when it is ready, begins at the moment that all processes of a
 * scenario begin at, and reports every request that went over the wire. With `every` it is somebody else who uses the key
 * at a fixed rate, and never minds an answer.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { clients } from './clients.js';

/** Milliseconds of a clock that all processes of this machine share. */
const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

process.once('disconnect', () => process.exit());
process.once('message', async ({ client, service, writes, atOnce, every }) => {
  if (every !== undefined) return useKey(service, every);
  const wire = watchWire(new URL(service.url).origin);
  const write = await clients[client](service);
  process.once('message', async ({ startAt }) => {
    await delay(Math.max(0, startAt - monotonic()));
    const failures = [];
    const queue = writes.values();
    const work = async () => {
      for (const { petId, quantity } of queue)
        await write(petId, quantity).catch((error) => failures.push(`${petId}: ${error.message}`));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    process.send({ done: monotonic(), failures, wire });
  });
  process.send('ready');
});

function useKey({ url, key }, every) {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${key}` };
  const send = () => {
    request(`${url}/store/orders`, { agent, headers }, (response) => response.resume())
      .on('error', () => {})
      .end();
  };
  send();
  setInterval(send, every);
  process.send('ready');
}

/**
 * Sees every request of this process to one origin, whichever client sends it: undici (each copy of it, that of Node
 * included) and node:http tell of theirs by the same channels. So the retries inside a client are seen too.
 *
 * @returns when each was sent and its answer's head came, its status, and Retry-After in seconds
 */
function watchWire(origin) {
  const requests = [];
  const open = new WeakMap();
  const sent = (request) => {
    const entry = { sent: monotonic() };
    open.set(request, entry);
    requests.push(entry);
  };
  const answered = (request, status, header) => {
    const wait = header('retry-after');
    const retryAfter = /^\d+$/.test(wait) ? Number(wait) : undefined;
    // Only requests to the origin have an entry.
    if (open.has(request)) Object.assign(open.get(request), { head: monotonic(), status, retryAfter });
  };
  subscribe('undici:client:sendHeaders', ({ request }) => {
    if (String(request.origin) === origin) sent(request);
  });
  subscribe('undici:request:headers', ({ request, response }) => {
    const texts = response.headers.map(String);
    answered(request, response.statusCode, (name) => texts[texts.findIndex((text) => text.toLowerCase() === name) + 1]);
  });
  subscribe('http.client.request.start', ({ request }) => {
    if (`${request.protocol}//${request.getHeader('host')}` === origin) sent(request);
  });
  subscribe('http.client.response.finish', ({ request, response }) => {
    answered(request, response.statusCode, (name) => response.headers[name]);
  });
  return requests;
}
