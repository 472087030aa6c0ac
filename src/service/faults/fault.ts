/** When a fault strikes, among the requests that it matches. */
export type Occurrence =
  | { readonly kind: 'always' }
  /** The n-th, the 2n-th, … */
  | { readonly kind: 'every'; readonly n: number }
  /** The first n. */
  | { readonly kind: 'first'; readonly n: number }
  /** Each with this probability; the same ones for the same seed. */
  | { readonly kind: 'probability'; readonly p: number; readonly seed: number };

/** What a fault does. The request has been authenticated and charged by then. */
export type Harm =
  /** Answers with an error instead of doing anything. `retryAfter` is sent as it is. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  /** Resets the connection (RST) instead of doing anything. */
  | { readonly kind: 'reset' }
  /** Does nothing and never answers. */
  | { readonly kind: 'hang' }
  /** Answers, and hangs up in the middle of the body. */
  | { readonly kind: 'truncate' }
  /** Answers with a body that is not JSON. */
  | { readonly kind: 'malform' }
  /** Answers without these headers (lower-case names). */
  | { readonly kind: 'without'; readonly headers: readonly string[] }
  /** Does what was asked, and hangs up without an answer. */
  | { readonly kind: 'commit-then-drop' };

/** A range in milliseconds; both ends are the same for a fixed delay. */
export interface Delay {
  readonly least: number;
  readonly most: number;
}

/** One fault, as its specification was read. */
export interface Fault {
  readonly spec: string;
  /** Null: any. */
  readonly method: string | null;
  /** Segments below the base address, '*' for any one. Null: any path. */
  readonly path: readonly string[] | null;
  readonly occurrence: Occurrence;
  readonly delay: Delay | null;
  /** Null for a fault that only delays. */
  readonly harm: Harm | null;
}
