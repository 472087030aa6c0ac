import { setTimeout as sleep } from 'node:timers/promises';
import { bearerToken } from '../keys/key.ts';
import type { Admission } from '../limits/admission.ts';
import { allMethods, allowedMethods, type Match } from '../routes/routes.ts';
import { retryAfter, type Service } from '../service.ts';
import { StorageError } from '../storage/storage.ts';
import { type Answer, malformed, Refusal, refusalAnswer } from './answer.ts';
import { BodyCutOff, type Exchange } from './exchange.ts';
import { requireWellFormed } from './refusals.ts';
import { discard, send } from './send.ts';

/**
 * Handles one request: authenticates it, charges or refuses it, draws a fault, finds the operation and carries it out,
 * in this order; a preflight is only answered. Any error becomes a response, unless a response has begun or the client
 * has disconnected.
 */
export async function handle(exchange: Exchange, service: Service, match: Match | null): Promise<void> {
  try {
    const preflight = preflightAnswer(exchange, service, match);
    if (preflight !== null) return await send(exchange, preflight, service.headersOf(exchange));
    await admitOrRefuse(exchange, service);
    await answerFaulty(exchange, service, () => operation(exchange, service, match));
  } catch (error) {
    await answerError(exchange, service, error);
  }
}

/** Returns the response to a preflight (it has no key and is not charged); null for any other request. */
function preflightAnswer({ method, request }: Exchange, { cors }: Service, match: Match | null): Answer | null {
  const allowed = match === null ? 'OPTIONS' : allowedMethods(match.route);
  const headers = cors.preflight(method, request.headers, allowed);
  return headers === null ? null : { status: 204, headers };
}

/**
 * Charges a request to its key or to its address.
 * @throws Refusal 401 without a valid key, 429 when the limit is reached or the key is banned, 400 for more than one
 * Authorization header
 */
async function admitOrRefuse(exchange: Exchange, service: Service): Promise<void> {
  const { storage, addresses, rules } = service;
  const credentials = exchange.request.headersDistinct.authorization ?? [];
  // If there are two of these headers, a proxy may have checked the other value.
  const token = credentials.length > 1 ? null : bearerToken(credentials[0]);
  const ofKey = token === null ? null : await service.timed('admit', () => storage.admit(token, rules));
  exchange.validKey = ofKey === null ? null : token;
  const admission = ofKey ?? addresses.admit(exchange.address, storage.now());
  exchange.shown = admission.shown;
  if (ofKey !== null) service.metrics?.admitted(ofKey);
  if (admission.outcome !== 'admitted') throw ofKey === null ? flood(admission) : tooMany(admission);
  if (credentials.length > 1) throw malformed('There is more than one Authorization header.');
  if (ofKey === null) throw unauthorized(token);
}

type Refused = Exclude<Admission, { outcome: 'admitted' }>;

function tooMany(admission: Refused): Refusal {
  const seconds = retryAfter(admission.retryAt, admission.at);
  const headers = { 'Retry-After': seconds };
  return admission.outcome === 'banned'
    ? new Refusal(
        429,
        'key_banned',
        `The key is banned for ${seconds} s. A key that keeps sending requests after a 429 is banned.`,
        headers,
      )
    : new Refusal(429, 'rate_limited', `Too many requests. Retry in ${seconds} s.`, headers);
}

function flood({ retryAt, at }: Refused): Refusal {
  const seconds = retryAfter(retryAt, at);
  const message = `Too many requests without a valid API key from this address. Retry with a key, or in ${seconds} s.`;
  return new Refusal(429, 'address_rate_limited', message, { 'Retry-After': seconds });
}

function unauthorized(token: string | null): Refusal {
  const [code, message, challenge] =
    token === null
      ? ['missing_api_key', 'An API key is required. Send it as Authorization: Bearer <API_KEY>.', 'Bearer']
      : ['invalid_api_key', 'The API key is not valid.', 'Bearer error="invalid_token"'];
  return new Refusal(401, code, message, { 'WWW-Authenticate': challenge });
}

/** When to retry, in seconds. A database that restarts or fails over may be back by then. */
const WHEN_BACK = { 'Retry-After': '2' };

/** Finds the operation and carries it out. A refusal is returned as a response, so that faults can affect it, too. */
async function operation(exchange: Exchange, service: Service, match: Match | null): Promise<Answer> {
  try {
    return await operate(exchange, service, match);
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error);
    if (!(error instanceof StorageError && error.kind === 'uncertain')) throw error;
    exchange.cause = error;
    const message =
      'The connection to the database was lost. The change may have been made. Read the stock to find out.';
    throw new Refusal(503, 'outcome_unknown', message, WHEN_BACK);
  }
}

/**
 * Carries out the operation of a request.
 * @throws Refusal if there is no such operation, or if it does not accept the request
 */
async function operate(exchange: Exchange, service: Service, match: Match | null): Promise<Answer> {
  requireWellFormed(exchange);
  const { method } = exchange;
  if (method === 'OPTIONS' && exchange.request.url === '*') return { status: 204, headers: { Allow: allMethods() } };
  if (match === null) throw new Refusal(404, 'not_found', 'There is nothing at this address.');
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allowedMethods(match.route) } };
  const asked = match.route.operations[method === 'HEAD' ? 'GET' : method];
  if (asked === undefined) {
    const allow = { Allow: allowedMethods(match.route) };
    throw new Refusal(405, 'method_not_allowed', `${method} is not allowed here.`, allow);
  }
  return asked({ exchange, service, parameter: match.parameter });
}

async function answerError(exchange: Exchange, service: Service, error: unknown): Promise<void> {
  if (!(error instanceof Refusal || error instanceof BodyCutOff)) exchange.cause = error;
  if (error instanceof BodyCutOff || exchange.response.headersSent) return;
  const refusal = asRefusal(error);
  exchange.code = refusal.code;
  await send(exchange, refusalAnswer(refusal), service.headersOf(exchange));
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof StorageError)) return new Refusal(500, 'internal_error', 'The service failed.');
  // Uncertain changes of stock were handled in `operation`. Here at most the charge of the request is uncertain.
  const message = "The stock can't be read or written at the moment. Nothing was changed.";
  const isOver = error.kind === 'unusable' || error.kind === 'damaged';
  return new Refusal(503, 'storage_unavailable', message, isOver ? {} : WHEN_BACK);
}

/** Carries out the request and responds, with the matching fault, if any. */
async function answerFaulty(exchange: Exchange, service: Service, operate: () => Promise<Answer>): Promise<void> {
  const { delayMs, harm } = service.faults.draw(exchange.method, exchange.target.path);
  if (delayMs > 0) await pause(exchange, delayMs);

  switch (harm?.kind) {
    case 'status': {
      const headers = harm.retryAfter === null ? {} : { 'Retry-After': harm.retryAfter };
      const refusal = new Refusal(harm.status, 'injected_fault', 'This error was requested by a fault.', headers);
      return send(exchange, refusalAnswer(refusal), service.headersOf(exchange));
    }
    case 'reset':
      return reset(exchange);
    case 'hang':
      exchange.abandoned = true;
      exchange.request.resume();
      return;
    case 'commit-then-drop':
      await discard((await operate()).body);
      exchange.request.socket.destroy();
      return;
  }
  await send(exchange, await operate(), service.headersOf(exchange), harm);
}

/**
 * Resets the connection. Over TLS, the raw connection is not accessible, so it is ended without TLS's closing message.
 * The check uses `encrypted`, because in bun the socket is not a `TLSSocket`.
 */
function reset({ request: { socket } }: Exchange): void {
  if ('encrypted' in socket && socket.encrypted) socket.destroy();
  else socket.resetAndDestroy();
}

/** Waits; ends early if the client closes the connection. */
async function pause({ response }: Exchange, milliseconds: number): Promise<void> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  response.once('close', abort);
  await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => {});
  response.off('close', abort);
}
