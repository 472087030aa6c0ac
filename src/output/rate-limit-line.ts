import { formatDuration } from './duration.ts';

/** What is known of a rate limit; any part may be missing. */
export interface RateLimitFacts {
  /** Requests in the window. */
  readonly limit?: bigint | undefined;
  /** Requests left in the window. */
  readonly remaining?: bigint | undefined;
  /** Seconds until the window ends; zero or less: it has ended. */
  readonly resetInSeconds?: number | undefined;
}

/** `Rate limit: 57 of 60 left, resets in 42 s`, without a line end. Missing parts are left out. */
export function rateLimitLine({ limit, remaining, resetInSeconds }: RateLimitFacts): string {
  const parts: string[] = [];
  if (remaining !== undefined) parts.push(limit === undefined ? `${remaining} left` : `${remaining} of ${limit} left`);
  else if (limit !== undefined) parts.push(`${limit} requests`);
  if (resetInSeconds !== undefined) {
    parts.push(resetInSeconds <= 0 ? 'resets now' : `resets in ${formatDuration(resetInSeconds)}`);
  }
  return `Rate limit: ${parts.length === 0 ? 'unknown' : parts.join(', ')}`;
}
