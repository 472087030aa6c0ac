import type { ShownLimit } from '../limits/admission.ts';

/** The headers that every answer carries, whatever its status. */
export function commonHeaders(now: number, requestId: string, shown: ShownLimit): Record<string, string> {
  return {
    Date: httpDate(now),
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetAt / 1000)),
  };
}

let lastDate = { second: Number.NaN, text: '' };

/** The same text for a whole second: it takes longer to make than it looks. */
function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(now).toUTCString() };
  return lastDate.text;
}

/** Whole seconds from `now` to `moment`: at least 1, and never short of it. */
export function retryAfter(moment: number, now: number): string {
  return String(Math.max(1, Math.ceil((moment - now) / 1000)));
}

export const JSON_TYPE = 'application/json';
