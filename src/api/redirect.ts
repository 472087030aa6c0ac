import { FailureError } from '../shared/errors.ts';
import type { Answer } from './exchange.ts';
import type { HttpRequest } from './transport.ts';

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function isRedirect({ status }: Pick<Answer, 'status'>): boolean {
  return redirectStatuses.has(status);
}

/**
 * Where a redirect leads.
 * @throws FailureError for one that would show the key to another origin, or turn a write into something else
 */
export function redirectTarget(request: Pick<HttpRequest, 'method' | 'url'>, answer: Answer): string {
  const { status, headers } = answer;
  const { location } = headers;
  if (typeof location !== 'string' || !URL.canParse(location, request.url)) {
    throw new FailureError(`The service answered ${status} without a usable Location`, { status });
  }
  const from = new URL(request.url);
  const to = new URL(location, request.url);
  if (to.origin !== from.origin) {
    const where = to.origin === 'null' ? to.protocol : to.origin;
    const message = `The service redirects to another address, ${where}. It was not followed, since that would show it the key`;
    throw new FailureError(message, { status });
  }
  const keepsMethod = status === 307 || status === 308 || ['GET', 'HEAD'].includes(request.method);
  if (!keepsMethod) {
    const message = `The service redirects a ${request.method} with ${status}, which can't be followed`;
    throw new FailureError(message, { status });
  }
  return to.href;
}
