import type { HttpRequest, HttpResponse, Transport } from '../../api/transport.ts';
import type { Clock } from '../../shared/clock.ts';
import { redactorOf } from '../../shared/redact.ts';

/** The headers that `--debug` shows. Whatever is not here may hold a key. */
const shownHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'deprecation',
  'location',
  'retry-after',
  'sunset',
  'user-agent',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
];

/** Shows every request and answer on one line each. */
export function debugTransport(transport: Transport, clock: Clock, log: (line: string) => void): Transport {
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, url } = request;
    const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    // The address may have it before it was ever sent.
    const redact = redactorOf([key]);
    const show = (line: string) => log(redact(line));
    const sentAt = clock.monotonic();
    const took = () => `${Math.round(clock.monotonic() - sentAt)} ms`;
    show(`> ${method} ${url} ${shown(request.headers)}`);
    try {
      const response = await transport(request);
      show(`< ${response.status} ${method} ${url} ${took()} ${shown(response.headers)}`);
      return response;
    } catch (error) {
      show(`< failed ${method} ${url} ${took()} ${(error as Error).message}`);
      throw error;
    }
  };
}

function shown(headers: HttpResponse['headers']): string {
  return shownHeaders
    .filter((name) => headers[name] !== undefined)
    .map((name) => `${name}: ${[headers[name]].flat().join(', ')}`)
    .join('; ');
}
