import { getPet } from './get-pet.ts';
import { listInventory } from './list-inventory.ts';
import { listOrders } from './list-orders.ts';
import type { Route } from './route.ts';
import { updateInventory } from './update-inventory.ts';

/** GET /pets/{petId} is deprecated with a sunset date that the specification leaves out: both dates are ours. */
const DEPRECATED = {
  /** RFC 9745 */
  Deprecation: `@${Date.UTC(2026, 0, 1) / 1000}`,
  /** RFC 8594 */
  Sunset: new Date(Date.UTC(2027, 11, 31, 23, 59, 59)).toUTCString(),
};

const ROUTES: readonly Route[] = [
  { segments: ['inventory'], operations: { GET: listInventory } },
  { segments: ['inventory', ':petId'], operations: { PATCH: updateInventory } },
  { segments: ['pets', ':petId'], operations: { GET: getPet }, headers: DEPRECATED },
  { segments: ['store', 'orders'], operations: { GET: listOrders } },
];

export interface Match {
  readonly route: Route;
  readonly parameter: string;
}

/** The route of a path, given in decoded segments. */
export function matchRoute(segments: readonly string[]): Match | null {
  const route = ROUTES.find(
    (candidate) =>
      candidate.segments.length === segments.length &&
      candidate.segments.every((expected, at) =>
        expected.startsWith(':') ? segments[at] !== '' : expected === segments[at],
      ),
  );
  if (route === undefined) return null;
  const at = route.segments.findIndex((segment) => segment.startsWith(':'));
  return { route, parameter: segments[at] ?? '' };
}

/** The path below the base address with its parameters by name: `/inventory/{petId}`. */
export function pathOf({ segments }: Route): string {
  return `/${segments.map((segment) => segment.replace(/^:(.*)$/, '{$1}')).join('/')}`;
}

/** The value of the Allow header for the service as a whole: `OPTIONS *`. */
export function allMethods(): string {
  return [...new Set([...ROUTES.flatMap((route) => allowedMethods(route).split(', '))])].sort().join(', ');
}

/** The value of the Allow header: HEAD where there is GET, OPTIONS everywhere. */
export function allowedMethods({ operations }: Route): string {
  const methods = Object.keys(operations);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
