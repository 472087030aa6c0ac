/** The meaning of a status for the request that it answers. */
export type StatusMeaning =
  /** It was carried out. */
  | 'done'
  /** It was not carried out, since the key is not accepted. No other request would fare better. */
  | 'unauthorized'
  /** It was not carried out, since it came too early. The same may be sent again once the gate is open. */
  | 'rateLimited'
  /** It was not carried out: the service has judged it, and would answer the same request the same. */
  | 'refused'
  /** It leads elsewhere, and who redirects it may have carried it out first. */
  | 'redirect'
  /** Whoever answered did not wait for the service, or does not know what became of it: it may be carried out later, too. */
  | 'undecided'
  /** It failed, and may have been carried out before that. */
  | 'failed';

/** 499 is nginx's. From 520 on they are of CDNs and proxies that have given up on the service. */
const undecided: ReadonlySet<number> = new Set([202, 408, 499, 502, 504]);
const firstOfProxies = 520;

/** The one table of what a status says of its request. */
export function statusMeaning(status: number): StatusMeaning {
  if (undecided.has(status) || status >= firstOfProxies) return 'undecided';
  if (status === 200) return 'done';
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'rateLimited';
  if (status >= 300 && status <= 399) return 'redirect';
  return status >= 400 && status <= 499 ? 'refused' : 'failed';
}

/** Reports whether a gateway answers this if the service itself did not: another try may help, and its Retry-After counts as that of a 429. */
export function isOfGateway(status: number): boolean {
  return status >= 502 && status <= 504;
}
