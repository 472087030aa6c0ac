/**
 * Runs one process of one client: receives its writes, reports that it is ready, begins at the moment at which all
 * processes of a scenario begin, and reports every request that it has sent. With `every`, it plays another user of the
 * key, who sends requests at a fixed rate and ignores the responses.
 */
import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';

/** Returns the time in milliseconds, by a clock that all processes of this machine share. */
const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Our client, and a library of each kind: one that retries, one that keeps a pace, and one that reads the service's
 * headers.
 */
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
 * Records every request of this process to one origin, whichever client sends it, including a client's own retries:
 * each copy of undici, even that in Node, publishes its requests to the same channels.
 * @returns the requests, with the times at which each was sent and its response's head came, the status, and
 * Retry-After in seconds
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

/** Returns the write function of the built library. All its processes share one state folder. */
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

/**
 * Makes the limiter with the first write, since its intervals begin when it is made: so each interval falls into one
 * window.
 */
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
 * Adds the headers of Discord's API to each response: `X-RateLimit-Reset-After`, which says when a window ends, and
 * `X-RateLimit-Global`, which says that a 429 is about all routes. Without them, the client could not work as intended.
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

/**
 * Returns a function that sends one PATCH by undici. Unless the status is 200, that function throws an error, whose
 * `retryAfter` is in milliseconds after a 429.
 */
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
