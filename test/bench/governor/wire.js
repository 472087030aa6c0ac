import { subscribe } from 'node:diagnostics_channel';

/** Milliseconds of a clock that all processes of this machine share. */
export const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Sees every request of this process to one origin, whichever client sends it: undici (each copy of it, that of Node
 * included) and node:http tell of theirs by the same channels. So the retries inside a client are seen too.
 *
 * @returns requests: when each was sent and its answer's head came, its status, Retry-After in seconds, and remaining
 */
export function watchWire(origin) {
  const requests = [];
  const open = new WeakMap();
  const sent = (request) => {
    const entry = { sent: monotonic() };
    open.set(request, entry);
    requests.push(entry);
  };
  const answered = (request, status, header) => {
    const entry = open.get(request);
    if (entry === undefined) return;
    Object.assign(entry, {
      head: monotonic(),
      status,
      retryAfter: numberOf(header('retry-after')),
      remaining: numberOf(header('x-ratelimit-remaining')),
    });
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
  return { requests };
}

function numberOf(text) {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
