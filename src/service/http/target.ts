const BASE = '/v1';

/** What nearly all targets look like: no origin, no query, nothing encoded. */
const PLAIN = /^\/v1\/[\w/-]*$/;

/** The resource that a request is about. */
export interface Target {
  /** Relative to the base address, as it was sent, without the query: `/inventory/5`. */
  readonly path: string;
  /** The decoded segments of the path; null when its percent-encoding is malformed or it is outside the base address. */
  readonly segments: readonly string[] | null;
  readonly malformed: boolean;
}

/** Reads a request target: `/v1/inventory?x`, or the absolute form that proxies are sent, `http://host/v1/inventory`. */
export function parseTarget(requestTarget: string): Target {
  if (PLAIN.test(requestTarget)) return plain(requestTarget.slice(BASE.length));
  const whole = requestTarget.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const path = whole.startsWith(`${BASE}/`) ? whole.slice(BASE.length) : null;
  if (path === null) return { path: whole, segments: null, malformed: decoded(whole) === null };
  const segments = decoded(path.slice(1));
  return { path, segments, malformed: segments === null };
}

function plain(path: string): Target {
  return { path, segments: path.slice(1).split('/'), malformed: false };
}

function decoded(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}
