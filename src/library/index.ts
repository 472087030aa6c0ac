/**
 * The client of the pet store inventory service as a library: governed, retried and exact.
 *
 * ```ts
 * const client = createPetstoreClient({ baseUrl: 'https://store.example/v1', key, stateFolder });
 * for await (const items of client.listInventory()) …
 * await client.updateInventory(42n, 12);
 * await client.close();
 * ```
 */
export type { Payload, RawAnswer } from '../api/client.ts';
export type { Json, JsonNumber, JsonObject } from '../api/json.ts';
export type { HttpRequest, HttpResponse, Transport } from '../api/transport.ts';
export type { BulkCounts, BulkRow, RowError, RowResult } from '../inventory/change.ts';
export { type InventoryItem, type PetStatus, petStatuses } from '../inventory/items.ts';
export type { Clock, Deadline } from '../shared/clock.ts';
export {
  AuthError,
  ConflictError,
  type ErrorChanges,
  type ErrorDetails,
  FailureError,
  InterruptedError,
  NotFoundError,
  PartialError,
  PetstockError,
  RateLimitedError,
  RejectedError,
  type ServiceError,
  UnavailableError,
  UsageError,
} from '../shared/errors.ts';
export type { ExitCodeName } from '../shared/exit-codes.ts';
export type { PetIdInput, QuantityInput } from './arguments.ts';
export type { PetstoreClientOptions } from './options.ts';
export { type CallOptions, createPetstoreClient, type PetstoreClient } from './petstore-client.ts';
export type { ChangeInput } from './read-changes.ts';
export type { ApplyOptions, RunReport } from './runs.ts';
export { type Sandbox, type SandboxOptions, type SandboxRequest, startSandbox } from './start-sandbox.ts';
