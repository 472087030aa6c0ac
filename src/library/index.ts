/**
 * A client of the pet store inventory service. It respects the rate limits, never retries a write blindly, and keeps
 * every digit of an id.
 *
 * ```ts
 * const client = createPetstoreClient({ baseUrl: 'https://store.example/v1', key, stateFolder });
 * for await (const items of client.listInventory()) …
 * await client.updateInventory(42n, 12);
 * await client.close();
 * ```
 */
export type { BulkCounts, BulkRow, RowError, RowResult } from '../inventory/change.ts';
export { type InventoryItem, type PetStatus, petStatuses } from '../inventory/items.ts';
export type { EndingSignal, ExitCodeName } from '../shared/errors.ts';
export {
  AuthError,
  ConflictError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorFault,
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
export type { Target } from '../shared/target.ts';
export type { PetIdInput, QuantityInput } from './arguments.ts';
export type { HistoryFilter, HistoryRow, HistoryRun } from './client-history.ts';
export type { LimitState, PetstoreClientOptions } from './client-options.ts';
export {
  type CallOptions,
  createPetstoreClient,
  type PetstoreClient,
  type PlainCallOptions,
  type PlainResponse,
  type RequestResult,
} from './petstore-client.ts';
export type { PlainJson, PlainJsonObject, PlainOptions } from './plain-json.ts';
export type { ApplyOptions, ChangeInput, RunReport, WrittenItem } from './runs.ts';
export {
  type Sandbox,
  type SandboxChange,
  type SandboxItem,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxSnapshot,
  startSandbox,
} from './start-sandbox.ts';
