import type { HttpRequest, HttpResponse, Transport, TransportOptions } from '../../api/transport.ts';
import { resolveProxy } from '../../settings/proxy.ts';
import type { StoredSettings } from '../../settings/settings.ts';
import type { Clock } from '../../shared/clock.ts';
import { UsageError } from '../../shared/errors.ts';
import { redactorOf } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import { logLine, type Messages } from './messages.ts';

export interface NetworkUse {
  readonly context: Context;
  readonly settings: StoredSettings;
  readonly messages: Messages;
  readonly writes: boolean;
}

/**
 * Returns the proxy and the trusted authorities for a service.
 * @throws UsageError if they can't be used, or if certificates are not checked and the command writes
 */
export async function networkFor(baseUrl: string, use: NetworkUse): Promise<TransportOptions> {
  await requireCertificateCheck(use);
  const { env } = use.context;
  const proxy = resolveProxy(baseUrl, env);
  const caFile = use.settings['ca-file'];
  if (caFile === undefined || !baseUrl.startsWith('https:')) return { proxy };
  // Loaded late, because Node's TLS module takes a while to load.
  const { authoritiesWith } = await import('../../settings/authorities.ts');
  return { proxy, ca: await authoritiesWith(caFile, env) };
}

/**
 * Warns if certificates are not checked. Node's own warning can be switched off and does not mention the key.
 * @throws UsageError before a write if certificates are not checked
 */
async function requireCertificateCheck({ context, messages, writes }: NetworkUse): Promise<void> {
  if (context.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const fact = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the certificate check';
  const instead = "petstock config set ca-file '<file>'";
  if (writes) {
    throw new UsageError(`${fact}. Nothing was sent. To write, unset it`, { hint: instead });
  }
  await messages.warn(`${fact}: anyone on the network can read the key and impersonate the service`);
}

/** After this many milliseconds a response counts as slow. */
const slowAfter = 1000;

/**
 * Wraps a transport so that it remembers whether a request other than a GET was sent.
 * @param onSlow receives a message if a response takes longer than a second
 */
export function watchAnswers(transport: Transport, clock: Clock, onSlow: (line: string) => void) {
  let hasSentWrite = false;
  const watched: Transport = async (request) => {
    hasSentWrite ||= request.method !== 'GET';
    const deadline = clock.deadline(slowAfter, () => onSlow(waitingText(request)));
    try {
      return await transport(request);
    } finally {
      deadline.clear();
    }
  };
  return { transport: watched, hasSentWrite: () => hasSentWrite };
}

function waitingText({ method, url }: HttpRequest): string {
  const { origin, pathname } = new URL(url);
  return `Waiting for ${origin} to respond to ${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}…`;
}

/** The headers that `--debug` shows. Any other header may contain a key. */
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

interface DebugEvent {
  readonly event: 'request' | 'response' | 'failure';
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  /** Milliseconds since the request was sent. */
  readonly ms?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function debugTransport(
  transport: Transport,
  clock: Clock,
  log: (line: string) => void,
  form: 'text' | 'json',
): Transport {
  return async (request) => {
    const { method, url } = request;
    // The URL may contain the key. Other output hides a key only once a request was sent with it.
    const redact = redactorOf([request.headers.authorization?.replace(/^Bearer /, '') ?? '']);
    const show = (event: DebugEvent) => {
      const { event: name, ...facts } = event;
      log(redact(form === 'json' ? logLine(clock.now(), name, facts) : lineOf(event)));
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
