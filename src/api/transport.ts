export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Called right before the request is written to an open connection. If it throws, nothing is sent. */
  leaving?(): void;
  /** Called when the first byte of a response has arrived, if the transport can detect that. */
  arriving?(): void;
}

/** One HTTP response. The body must be read completely or discarded. */
export interface HttpResponse {
  readonly status: number;
  /** Header names are in lower case; the value of a repeated header is an array. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The received bytes, still in their content encoding. Each chunk is valid until the next is requested. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface TransportOptions {
  /** The trusted authorities in PEM format, instead of those of Node. */
  readonly ca?: readonly string[] | undefined;
  /** The proxy for all requests: its URL, the part that may be shown, and the header with its login. */
  readonly proxy?:
    | { readonly value: string; readonly shown: string; readonly authorization?: string | undefined }
    | undefined;
}

/**
 * Sends one request and resolves with the head of the response. Doesn't retry, redirect or decode.
 * @throws errors of the network; the signal's reason if it is aborted
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;
