import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './answer.ts';

/** Response headers that a page may read, in addition to those that every page may read. */
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, ' +
  'Retry-After, Allow, Date, Deprecation, Sunset, WWW-Authenticate';

/** The web pages that may call the service from a browser (CORS of the Fetch Standard). */
export class Cors {
  /** @param origins the origins as browsers send them, such as `https://shop.example`; `*` for all */
  constructor(private readonly origins: readonly string[]) {}

  headers({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> {
    if (this.origins.length === 0) return {};
    if (this.origins.includes('*'))
      return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
    if (origin === undefined || !this.origins.includes(origin)) return { Vary: 'Origin' };
    return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED };
  }

  /**
   * Returns the headers for a preflight; null for any other request, and for any request if no page may call the
   * service. A browser sends a preflight, without the key, before a request with a key.
   * @param allowed the methods of the path, as in `Allow`
   * @throws Refusal 403 for a page that may not call the service
   */
  preflight(method: string, headers: IncomingHttpHeaders, allowed: string): Readonly<Record<string, string>> | null {
    if (this.origins.length === 0 || method !== 'OPTIONS') return null;
    if (headers.origin === undefined || headers['access-control-request-method'] === undefined) return null;
    if (!this.origins.includes('*') && !this.origins.includes(headers.origin)) {
      const message = `Pages of ${headers.origin.slice(0, 200)} may not call this service.`;
      throw new Refusal(403, 'origin_not_allowed', message);
    }
    return {
      Allow: allowed,
      'Access-Control-Allow-Methods': allowed,
      'Access-Control-Allow-Headers': 'Authorization, Content-Type',
      'Access-Control-Max-Age': '600',
    };
  }
}
