import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/**
 * The transport over undici. undici is imported with the first request, since most of a start is its loading.
 * Its own time-outs are off: the signal of each request carries the one that the user chose.
 */
export function createUndiciTransport(): Transport {
  let dispatcher: Promise<import('undici').Dispatcher> | undefined;
  return async (request: HttpRequest): Promise<HttpResponse> => {
    dispatcher ??= import('undici').then(
      // The default export, since that is all a bundled CommonJS package has.
      ({ default: { Agent } }) => new Agent({ headersTimeout: 0, bodyTimeout: 0 }),
    );
    const { origin, pathname, search } = new URL(request.url);
    const answer = await (await dispatcher).request({
      origin,
      path: pathname + search,
      method: request.method as 'GET',
      headers: request.headers,
      body: request.body ?? null,
      signal: request.signal,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body,
      discard: () => {
        // A destroyed body reports that it was aborted, which nobody waits for here.
        answer.body.on('error', () => {}).destroy();
      },
    };
  };
}
