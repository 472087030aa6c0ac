/** The meaning of a status for its request. */
export type StatusMeaning =
  /** The request was carried out. */
  | 'done'
  /** The request was not carried out, because the key was not accepted. Any other request would fail, too. */
  | 'unauthorized'
  /** The request was not carried out, because it came too early. It may be sent again once the gate has lifted. */
  | 'rateLimited'
  /** The request was not carried out: the service has rejected it, and would reject it again. */
  | 'refused'
  /** The response is a redirect, and the server may have carried the request out first. */
  | 'redirect'
  /**
   * The sender of the response did not wait for the service, or does not know the outcome. The request may be carried
   * out later, too.
   */
  | 'undecided'
  /** Any other status, such as 500 or 204. The request may have been carried out. */
  | 'failed';

/** 499 is a status of nginx; those from 520 on come from CDNs and proxies that have given up on the service. */
const undecided: ReadonlySet<number> = new Set([202, 408, 499, 502, 504]);
const firstOfProxies = 520;

/** Returns the meaning of a status. No other function decides this. */
export function statusMeaning(status: number): StatusMeaning {
  if (undecided.has(status) || status >= firstOfProxies) return 'undecided';
  if (status === 200) return 'done';
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'rateLimited';
  if (status >= 300 && status <= 399) return 'redirect';
  return status >= 400 && status <= 499 ? 'refused' : 'failed';
}
