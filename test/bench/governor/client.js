/**
 * One process of one client: is told what to write, says when it is ready, begins at the moment that all processes of a
 * scenario begin at, and reports every request that went over the wire. With `every` it is somebody else who uses the key
 * at a fixed rate, and never minds an answer.
 */
import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds of a clock that all processes of this machine share. */
const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

/** Ours, and a library of each kind: one that retries, one that keeps a pace, one that reads the service's headers. */
const clients = { petstock, undici, bottleneck, discord };

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
  const headers = { authorization: `Bearer ${key}` };
  const send = () =>
    fetch(`${url}/store/orders`, { headers })
      .then((response) => response.text())
      .catch(() => {});
  send();
  setInterval(send, every);
  process.send('ready');
}

/**
 * Sees every request of this process to one origin, whichever client sends it: each copy of undici, that of Node included, tells of
 * its own by the same channels. So the retries inside a client are seen too.
 *
 * @returns when each was sent and its answer's head came, its status, and Retry-After in seconds
 */
function watchWire(origin) {
  const requests = [];
  const open = new WeakMap();
  subscribe('undici:client:sendHeaders', ({ request }) => {
    if (String(request.origin) !== origin) return;
    const entry = { sent: monotonic() };
    open.set(request, entry);
    requests.push(entry);
  });
  subscribe('undici:request:headers', ({ request, response: { statusCode, headers } }) => {
    const texts = headers.map(String);
    const wait = texts[texts.findIndex((text) => text.toLowerCase() === 'retry-after') + 1];
    const retryAfter = /^\d+$/.test(wait) ? Number(wait) : undefined;
    // Only requests to the origin have an entry.
    if (open.has(request)) Object.assign(open.get(request), { head: monotonic(), status: statusCode, retryAfter });
  });
  return requests;
}

/** The library as it is built, with its state in a folder that all its processes share. */
async function petstock({ url, key, library, stateFolder }) {
  const { createPetstoreClient } = await import(library);
  const onFallback = (reason) => process.stderr.write(`petstock: ${reason.stack}\n`);
  const client = createPetstoreClient({ baseUrl: url, key, stateFolder, onFallback });
  return (petId, quantity) => client.updateInventory(BigInt(petId), quantity);
}

async function undici(service) {
  const { Agent, RetryAgent } = await import('undici');
  return patch(service, new RetryAgent(new Agent(), { methods: ['PATCH'], statusCodes: [429], maxRetries: 50 }));
}

/** Its intervals begin when it is made: made with the first write, each falls into a window of its own. */
async function bottleneck(service) {
  const { default: Bottleneck } = await import('bottleneck');
  const { Agent } = await import('undici');
  const { limit, windowMs, atOnce } = service;
  const limiterOf = () => {
    const refresh = { reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: windowMs };
    return new Bottleneck({ maxConcurrent: atOnce, ...refresh }).on('failed', (error) => error.retryAfter);
  };
  const send = patch(service, new Agent());
  let write;
  return (petId, quantity) => {
    write ??= limiterOf().wrap(send);
    return write(petId, quantity);
  };
}

/**
 * Discord's API tells by `X-RateLimit-Reset-After` when a window ends, and by `X-RateLimit-Global` that a 429 is about
 * all routes; with both made from what this service tells, the client can do what it is made for.
 */
async function discord({ url, key }) {
  const { DefaultRestOptions, REST } = await import('@discordjs/rest');
  const [, api, version] = /^(.*)\/v(\d+)$/.exec(url);
  const makeRequest = async (...args) => {
    const response = await DefaultRestOptions.makeRequest(...args);
    const { headers, status } = response;
    const resetAfter = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    headers.set('x-ratelimit-reset-after', String(Math.max(0, resetAfter)));
    if (status === 429) headers.set('x-ratelimit-global', 'true');
    return response;
  };
  const rest = new REST({ api, version, authPrefix: 'Bearer', makeRequest }).setToken(key);
  return (petId, quantity) => rest.patch(`/inventory/${petId}`, { body: { quantity } });
}

/** One request by undici. @throws an error with `retryAfter` in milliseconds after a 429 */
function patch({ url, key }, dispatcher) {
  const { origin, pathname } = new URL(url);
  return async (petId, quantity) => {
    const { statusCode, headers, body } = await dispatcher.request({
      origin,
      path: `${pathname}/inventory/${petId}`,
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ quantity }),
    });
    await body.dump();
    if (statusCode === 200) return;
    const retryAfter = statusCode === 429 ? Number(headers['retry-after']) * 1000 : undefined;
    throw Object.assign(new Error(`status ${statusCode}`), { retryAfter });
  };
}
