import type { HttpRequest, HttpResponse, Transport } from '../../api/transport.ts';
import type { Clock } from '../../shared/clock.ts';
import { redactorOf } from '../../shared/redact.ts';

/** The headers that `--debug` shows. Any other header may hold a key. */
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

/** One request or response, as a line of JSON has it. */
interface DebugEvent {
  readonly event: 'request' | 'response' | 'failure';
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  /** Milliseconds since the request left. */
  readonly ms?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shows every request and response on one line each. */
export function debugTransport(
  transport: Transport,
  clock: Clock,
  log: (line: string) => void,
  form: 'text' | 'json' = 'text',
): Transport {
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, url } = request;
    // The URL may contain the key before it was ever sent.
    const redact = redactorOf([request.headers.authorization?.replace(/^Bearer /, '') ?? '']);
    const show = (event: DebugEvent) => {
      const at = new Date(clock.now()).toISOString();
      log(redact(form === 'json' ? JSON.stringify({ at, ...event }) : lineOf(event)));
    };
    const sentAt = clock.monotonic();
    const took = () => Math.round(clock.monotonic() - sentAt);
    show({ event: 'request', method, url, headers: shown(request.headers) });
    try {
      const response = await transport(request);
      const { status } = response;
      show({ event: 'response', method, url, status, ms: took(), headers: shown(response.headers) });
      return response;
    } catch (error) {
      show({ event: 'failure', method, url, ms: took(), message: (error as Error).message });
      throw error;
    }
  };
}

function lineOf({ event, method, url, status, ms, message, headers = {} }: DebugEvent): string {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const end = message ?? named.join('; ');
  if (event === 'request') return `> ${method} ${url} ${end}`;
  return `< ${status ?? 'failed'} ${method} ${url} ${ms} ms ${end}`;
}

function shown(headers: HttpResponse['headers']): Record<string, string> {
  const present = shownHeaders.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, [headers[name]].flat().join(', ')]));
}
