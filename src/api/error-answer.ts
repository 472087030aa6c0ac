import {
  AuthError,
  NotFoundError,
  type PetstockError,
  RateLimitedError,
  RejectedError,
  type ServiceError,
  UnavailableError,
} from '../errors.ts';
import { isJsonObject, parseJson, toInteger } from './json.ts';

/** Reads an Error body. @returns undefined for anything else: HTML, nothing, half of something */
export function parseServiceError(text: string, status: number): ServiceError | undefined {
  try {
    const body = parseJson(text);
    if (!isJsonObject(body)) return undefined;
    const { code, message } = body;
    if (typeof code !== 'string' || typeof message !== 'string') return undefined;
    const told = toInteger(body.status);
    return { code, message, status: told === undefined ? status : Number(told) };
  } catch {
    return undefined;
  }
}

/** The error for an answer that is not a success. @param text the body, whatever it is */
export function errorOfAnswer(status: number, text: string): PetstockError {
  const service = parseServiceError(text, status);
  const details = { status, service };
  const says = service === undefined ? `The service answered ${status}` : service.message;
  if (status === 401)
    return new AuthError(service === undefined ? 'The service did not accept the key' : says, details);
  if (status === 404) return new NotFoundError(says, details);
  if (status === 429) return new RateLimitedError(says, details);
  if (status >= 500) return new UnavailableError(`${says}${service === undefined ? '' : ` (${status})`}`, details);
  return new RejectedError(says, details);
}
