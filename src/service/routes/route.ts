import type { Answer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Store } from '../store/store.ts';

/** Smallest and largest quantity that a stock update may set; null: no bound but int64. */
export interface QuantityBounds {
  readonly min: bigint | null;
  readonly max: bigint | null;
}

/** What an operation works with. */
export interface Call {
  readonly exchange: Exchange;
  readonly store: Store;
  readonly bounds: QuantityBounds;
  /** The decoded value of the path parameter, '' where the path has no parameter. */
  readonly parameter: string;
}

type Operation = (call: Call) => Promise<Answer>;

export interface Route {
  /** A segment that starts with ':' is a parameter. */
  readonly segments: readonly string[];
  readonly operations: Readonly<Record<string, Operation>>;
  /** Headers of every answer on this path, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>;
}
