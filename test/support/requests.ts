import type { RunResult } from './context.ts';

/** What was sent: `['GET /v1/inventory', 'PATCH /v1/inventory/7 {"quantity":3}']`. */
export function sent({ requests }: RunResult): string[] {
  return requests.map(({ method, path, body }) => `${method} ${path}${body === undefined ? '' : ` ${body}`}`);
}
