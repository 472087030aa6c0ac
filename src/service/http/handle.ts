import { setTimeout as sleep } from 'node:timers/promises';
import { isSqliteError } from '../../shared/sqlite-engine.ts';
import { bearerToken } from '../key.ts';
import type { Admission } from '../limits/admission.ts';
import { valuesIn } from '../routes.ts';
import { type Answer, listToJson, Refusal, toJson } from './answer.ts';
import { addressOf, BodyCutOff, type Exchange, readJsonBody, type Service, send } from './exchange.ts';

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
  const headers = cors.preflight(method, request.headers, target.route?.allow ?? 'OPTIONS');
  return headers === null ? null : { status: 204, headers };
}

/**
 * Charges a request to the key or to its address.
 * @throws Refusal 401 without the key, 429 when the limit is reached or the key is banned
 */
function admitOrRefuse(exchange: Exchange, { isKey, quota, addresses, clock }: Service): void {
  const { request } = exchange;
  const now = Math.floor(clock.now());
  const token = bearerToken(request.headers.authorization);
  const hasKey = token !== null && isKey(token);
  const admission = hasKey ? quota.admit(now) : addresses.admit(addressOf(request), now);
  exchange.shown = admission.shown;
  if (admission.outcome !== 'admitted') throw hasKey ? tooMany(admission) : flood(admission);
  if (!hasKey) throw unauthorized(token);
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
  const { request } = exchange;
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
      await answerOf(exchange, service);
      request.socket.destroy();
      return;
  }
  await send(exchange, await answerOf(exchange, service), service.headersOf(exchange), harm);
}

/** Waits; ends early if the client closes the connection. */
async function pause({ response }: Exchange, milliseconds: number): Promise<void> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  response.once('close', abort);
  await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => {});
  response.off('close', abort);
}

/** Carries out the operation of a request. A refusal is an answer, too, so that faults can affect it. */
async function answerOf(exchange: Exchange, { shop }: Service): Promise<Answer> {
  const { method, target } = exchange;
  try {
    if (method === 'OPTIONS' && target.route !== null) return { status: 204, headers: { Allow: target.route.allow } };
    const { operation, route, segments } = requested(exchange);
    const text = operation.body === undefined ? '' : await readJsonBody(exchange);
    const parameters = valuesIn(route, segments);
    const result = operation.handle({ ...shop, parameters, body: operation.body?.read(text, shop) });
    return { status: 200, body: 'list' in result ? listToJson(result.list) : [toJson(result.value)] };
  } catch (error) {
    if (error instanceof BodyCutOff) throw error;
    return refusalAnswer(error);
  }
}

/** @throws Refusal if there is no such path or operation */
function requested({ method, target: { route, segments } }: Exchange) {
  if (segments === null) throw new Refusal(400, 'malformed_path', 'The percent-encoding of the path is malformed.');
  if (route === null) throw new Refusal(404, 'not_found', 'There is nothing at this address.');
  const operation = route.operations.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (operation !== undefined) return { operation, route, segments };
  throw new Refusal(405, 'method_not_allowed', `${method} is not allowed here.`, { Allow: route.allow });
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
