/** One HTTP request, as it goes on the wire. */
export interface HttpRequest {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Has to be called right before it leaves, on an open connection if the transport can tell. What it throws keeps it back. */
  leaving?(): void;
  /** Called as soon as the first byte of an answer has come, if the transport can tell. */
  arriving?(): void;
}

/** One HTTP answer. The body must be read to its end or discarded. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; a header that came more than once is an array. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came, still encoded as `content-encoding` says. Each chunk is valid until the next is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body, in place of `body`, if all of it has come; undefined if it has not, and nothing is taken then. */
  takeWhole?(): Uint8Array | undefined;
  discard(): void;
}

/** How a transport gets to a service. */
export interface TransportOptions {
  /** PEM: the authorities that are trusted, instead of those of Node. */
  readonly ca?: readonly string[] | undefined;
  /** The proxy that every request goes through: its URL, and what may be shown of it. */
  readonly proxy?: { readonly value: string; readonly shown: string } | undefined;
}

/**
 * Sends one request and resolves with the head of its answer. No retry, no redirect, no decoding.
 * @throws whatever the network fails with; the signal's reason when aborted
 */
export interface Transport {
  (request: HttpRequest): Promise<HttpResponse>;
  /** Closes the connections that are kept for the next request. None may be under way. */
  close?(): void;
}
