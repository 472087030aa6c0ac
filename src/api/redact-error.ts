import { PetstockError } from '../shared/errors.ts';

/** The same error without the key: what is made of the service's words goes to screens, logs and the history. */
export function redactError(error: unknown, redact: (text: string) => string): unknown {
  if (!(error instanceof PetstockError)) return error;
  const { service } = error;
  const message = redact(error.message);
  const words = service && { ...service, code: redact(service.code), message: redact(service.message) };
  const isClean = message === error.message && words?.code === service?.code && words?.message === service?.message;
  return isClean ? error : error.with({ message, service: words, cause: error.cause });
}
