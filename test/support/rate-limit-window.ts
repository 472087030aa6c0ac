/** A fixed window, as the service counts it. */
export interface RateLimitPlan {
  readonly limit: number;
  /** How long a window is, in whole seconds. */
  readonly seconds: number;
  /** Left in the first window; default: all of it. */
  readonly left?: number;
}

export interface RateLimitWindow {
  /** Counts a request. @returns the headers of its answer; with `Retry-After` where it is one too many */
  count(): Readonly<Record<string, string>>;
}

const none: RateLimitPlan = { limit: 1_000_000, seconds: 60 };

export function createRateLimitWindow(
  { limit, seconds, left = limit }: RateLimitPlan = none,
  wall: () => number = Date.now,
): RateLimitWindow {
  // It ends with a second of the wall clock, since its header can say nothing else.
  let end = (Math.ceil(wall() / 1000) + seconds) * 1000;
  let remaining = left;
  return {
    count: () => {
      const now = wall();
      while (now >= end) {
        end += seconds * 1000;
        remaining = limit;
      }
      const isOver = remaining === 0;
      if (!isOver) remaining -= 1;
      const headers = {
        'X-RateLimit-Limit': `${limit}`,
        'X-RateLimit-Remaining': `${remaining}`,
        'X-RateLimit-Reset': `${end / 1000}`,
      };
      return isOver ? { ...headers, 'Retry-After': `${Math.max(1, Math.ceil((end - now) / 1000))}` } : headers;
    },
  };
}
