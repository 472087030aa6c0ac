/**
 * The client of the pet store inventory service as a library: governed, retried and exact.
 *
 * ```ts
 * const client = createPetstoreClient({ baseUrl: 'https://store.example/v1', key, stateFolder });
 * for await (const items of client.listInventory()) …
 * await client.updateInventory(42n, 12);
 * ```
 */
export type { Payload, RawAnswer } from '../api/client.ts';
export type { HttpRequest, HttpResponse, Transport } from '../api/transport.ts';
export { type InventoryItem, type PetStatus, petStatuses } from '../inventory/items.ts';
export type { Clock, Deadline } from '../shared/clock.ts';
export {
  AuthError,
  FailureError,
  InterruptedError,
  NotFoundError,
  PetstockError,
  RateLimitedError,
  RejectedError,
  type ServiceError,
  UnavailableError,
  UsageError,
} from '../shared/errors.ts';
export { createPetstoreClient, type PetstoreClient, type PetstoreClientOptions } from './petstore-client.ts';
