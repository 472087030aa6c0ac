/** The response to a request, without the headers common to all responses. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The pieces of the JSON text. Absent if there is no content. */
  readonly body?: readonly string[];
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
