import { setTimeout as sleep } from 'node:timers/promises';
import { isSqliteError } from '../../shared/sqlite-engine.ts';
import { listToJson, toJson } from '../json.ts';
import { bearerToken, isSameKey } from '../key.ts';
import type { Admission } from '../limits/admission.ts';
import { allowedMethods, parametersOf } from '../routes.ts';
import type { Service } from '../service.ts';
import { type Answer, Refusal } from './answer.ts';
import { BodyCutOff, type Exchange, readJsonBody } from './exchange.ts';
import { send } from './send.ts';

/**
 * Handles one request: authenticates it, charges or refuses it, draws a fault, finds the operation and carries it out,
 * in this order; a preflight is only answered. Any error becomes a response, unless a response has begun or the client
 * has disconnected.
 */
export async function handle(exchange: Exchange, service: Service): Promise<void> {
  try {
    const preflight = preflightAnswer(exchange, service);
    if (preflight !== null) return await send(exchange, preflight, service.headersOf(exchange));
    admitOrRefuse(exchange, service);
    await answerFaulty(exchange, service);
  } catch (error) {
    if (error instanceof BodyCutOff || exchange.response.headersSent) return;
    await send(exchange, refusalAnswer(error), service.headersOf(exchange));
  }
}

/** Returns the response to a preflight (it has no key and is not charged); null for any other request. */
function preflightAnswer({ method, request, target }: Exchange, { cors }: Service): Answer | null {
  const headers = cors.preflight(method, request.headers, allowedMethods(target.route));
  return headers === null ? null : { status: 204, headers };
}

/**
 * Charges a request to the key or to its address.
 * @throws Refusal 401 without the key, 429 when the limit is reached or the key is banned
 */
function admitOrRefuse(exchange: Exchange, { key, quota, addresses, clock }: Service): void {
  const { request } = exchange;
  const now = Math.floor(clock.now());
  const token = bearerToken(request.headers.authorization);
  const hasKey = token !== null && isSameKey(token, key);
  const admission = hasKey ? quota.admit(now) : addresses.admit(addressOf(exchange), now);
  exchange.shown = admission.shown;
  if (admission.outcome !== 'admitted') throw hasKey ? tooMany(admission) : flood(admission);
  if (!hasKey) throw unauthorized(token);
}

export function addressOf({ request }: Pick<Exchange, 'request'>): string {
  return request.socket.remoteAddress ?? '';
}

type Refused = Exclude<Admission, { outcome: 'admitted' }>;

function tooMany(refused: Refused): Refusal {
  return refused.outcome === 'banned'
    ? new Refusal(
        429,
        'key_banned',
        'This key is banned because it kept sending after 429 responses.',
        waitFor(refused),
      )
    : new Refusal(429, 'rate_limited', 'The rate limit of this key is exceeded.', waitFor(refused));
}

function flood(refused: Refused): Refusal {
  const message = 'There are too many requests without a valid API key from this address.';
  return new Refusal(429, 'address_rate_limited', message, waitFor(refused));
}

/** Returns the wait in whole seconds: at least 1, rounded up. */
function waitFor({ retryAt, at }: Refused): Readonly<Record<string, string>> {
  return { 'Retry-After': String(Math.max(1, Math.ceil((retryAt - at) / 1000))) };
}

function unauthorized(token: string | null): Refusal {
  return token === null
    ? new Refusal(401, 'missing_api_key', 'An API key is required: Authorization: Bearer <API_KEY>.', {
        'WWW-Authenticate': 'Bearer',
      })
    : new Refusal(401, 'invalid_api_key', 'The API key is not valid.', {
        'WWW-Authenticate': 'Bearer error="invalid_token"',
      });
}

/** Carries out the request and responds, with the matching fault, if any. */
async function answerFaulty(exchange: Exchange, service: Service): Promise<void> {
  const { request, response } = exchange;
  const { delayMs, harm } = service.faults.draw(exchange.method, exchange.target.path);
  if (delayMs > 0) await pause(exchange, delayMs);

  switch (harm?.kind) {
    case 'status': {
      const headers = harm.retryAfter === null ? {} : { 'Retry-After': harm.retryAfter };
      throw new Refusal(harm.status, 'injected_fault', 'This error was requested by a fault.', headers);
    }
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'hang':
      exchange.isAbandoned = true;
      request.resume();
      return;
    case 'commit-then-drop':
      await operate(exchange, service).catch(refusalAnswer);
      request.socket.destroy();
      return;
  }
  // A refusal is sent in the same way, so that faults can affect it, too.
  const answer = await operate(exchange, service).catch((error: unknown) => {
    if (error instanceof Refusal) return refusalAnswer(error);
    throw error;
  });
  if (!response.destroyed) await send(exchange, answer, service.headersOf(exchange), harm);
}

/** Waits; ends early if the client closes the connection. */
async function pause({ response }: Exchange, milliseconds: number): Promise<void> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  response.once('close', abort);
  await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => {});
  response.off('close', abort);
}

/**
 * Carries out the operation of a request.
 * @throws Refusal if there is no such operation, or if it does not accept the request; SQLite's error
 */
async function operate(exchange: Exchange, { shop }: Service): Promise<Answer> {
  const { method, target } = exchange;
  const { route, segments } = target;
  if (segments === null) throw new Refusal(400, 'malformed_path', 'The percent-encoding of the path is malformed.');
  if (route === null) throw new Refusal(404, 'not_found', 'There is nothing at this address.');
  const allow = { Allow: allowedMethods(route) };
  if (method === 'OPTIONS') return { status: 204, headers: allow };
  const operation = route.operations.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (operation === undefined) throw new Refusal(405, 'method_not_allowed', `${method} is not allowed here.`, allow);
  const text = operation.body === undefined ? '' : await readJsonBody(exchange);
  const parameters = parametersOf(route, operation, segments);
  const result = operation.handle({ ...shop, parameters, body: operation.body?.read(text, shop) });
  return { status: 200, body: 'list' in result ? listToJson(result.list) : [toJson(result.value)] };
}

function refusalAnswer(error: unknown): Answer {
  const { status, code, message, headers } = asRefusal(error);
  return { status, headers, body: [toJson({ code, message, status })] };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (!isSqliteError(error)) return new Refusal(500, 'internal_error', `The service failed: ${reason}.`);
  return new Refusal(503, 'storage_unavailable', `The stock can't be read or written: ${reason}. Nothing was changed.`);
}
