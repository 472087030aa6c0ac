/** The response to a request, without the headers common to all responses. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, in chunks if it may be large. Absent if there is no content. */
  readonly body?: string | AsyncGenerator<string, void>;
}

/** Ends a request with an error response: `{"code","message","status"}`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export function refusalAnswer({ status, code, message, headers }: Refusal): Answer {
  return { status, headers, body: JSON.stringify({ code, message, status }) };
}

export const JSON_TYPE = 'application/json';

export const CODINGS = 'The only supported transfer coding is chunked.';

export function notImplemented(message: string): Refusal {
  return new Refusal(501, 'not_implemented', message);
}

export function malformed(message = 'This is not a well-formed HTTP request.'): Refusal {
  return new Refusal(400, 'malformed_request', message);
}
