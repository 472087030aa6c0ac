import type { ExitCodeName } from './exit-codes.ts';

/** The Error body of the service, as far as it sent one. */
export interface ServiceError {
  readonly code: string;
  readonly message: string;
  /** HTTP status, 100 to 599. */
  readonly status: number;
}

export interface ErrorDetails {
  /** What to do, as a command that can be run: `petstock config set-key --env staging`. */
  readonly hint?: string | undefined;
  /** What is wrong, one by one, where it is more than a sentence: a line each. */
  readonly lines?: readonly string[] | undefined;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number | undefined;
  /** The Error body as the service sent it. */
  readonly service?: ServiceError | undefined;
  /** Seconds until the same command works again. */
  readonly retryAfterSeconds?: number | undefined;
  /** Nothing of the request can have been carried out: it was never sent, or each time refused with a 429. */
  readonly unsent?: boolean | undefined;
  /**
   * The request left and no final answer came from the service itself (a reset, a time-out, a 408, 502 or 504): it may still
   * be on its way, and be carried out later.
   */
  readonly mayStillArrive?: boolean | undefined;
  readonly cause?: unknown;
}

/** What `with` can change. */
export interface ErrorChanges extends ErrorDetails {
  readonly message?: string;
}

/**
 * The root of every failure that petstock expects. `exit` names its exit code. Every kind is constructed with a message and
 * details.
 */
export abstract class PetstockError extends Error {
  abstract readonly exit: ExitCodeName;
  /** Machine-readable, lower snake case; in JSON output the service's own code goes before it. */
  abstract readonly code: string;
  readonly hint: string | undefined;
  readonly lines: readonly string[];
  readonly status: number | undefined;
  readonly service: ServiceError | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly unsent: boolean;
  readonly mayStillArrive: boolean;
  // biome-ignore lint/complexity/useLiteralKeys: a class can't have a field of that name
  declare readonly ['constructor']: new (
    message: string,
    details: ErrorDetails,
  ) => this;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.hint = details.hint;
    this.lines = details.lines ?? [];
    this.status = details.status;
    this.service = details.service;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.unsent = details.unsent ?? false;
    this.mayStillArrive = details.mayStillArrive ?? false;
  }

  /** The same failure, of the same kind, with something said otherwise. Its cause is that of this one, else this one. */
  with({ message = this.message, ...changes }: ErrorChanges): this {
    const { hint, lines, status, service, retryAfterSeconds, unsent, mayStillArrive } = this;
    const details = { hint, lines, status, service, retryAfterSeconds, unsent, mayStillArrive };
    return new this.constructor(message, { ...details, cause: this.cause ?? this, ...changes });
  }
}

/** Arguments, settings or a confirmation: the person at the keyboard can put it right. Nothing was sent. */
export class UsageError extends PetstockError {
  readonly exit = 'usage';
  readonly code = 'usage';
}

/** No key, or the service answered 401. */
export class AuthError extends PetstockError {
  readonly exit = 'auth';
  readonly code = 'unauthorized';
}

/** The network failed, a request timed out, or the service answered 5xx, after all retries. */
export class UnavailableError extends PetstockError {
  readonly exit = 'unavailable';
  readonly code: string = 'unavailable';
}

/** The certificate of the service was refused, before anything was sent. Trying again does not help. */
export class CertificateError extends UnavailableError {
  override readonly code = 'untrusted_certificate';
}

/** The rate limit stands in the way for longer than the command may wait. */
export class RateLimitedError extends PetstockError {
  readonly exit = 'rateLimited';
  readonly code = 'rate_limited';
}

/** The stock is not what was expected; nothing was written. */
export class ConflictError extends PetstockError {
  readonly exit = 'conflict';
  readonly code = 'conflict';
}

/** 404, or no such pet in the list. */
export class NotFoundError extends PetstockError {
  readonly exit = 'notFound';
  readonly code = 'not_found';
}

/** The service refused the request: 400 or another 4xx. */
export class RejectedError extends PetstockError {
  readonly exit = 'rejected';
  readonly code = 'rejected';
}

/** An answer that makes no sense, a full disk, a defect. */
export class FailureError extends PetstockError {
  readonly exit = 'failure';
  readonly code = 'failure';
}

/** A bulk run in which some rows were written and some were not. */
export class PartialError extends PetstockError {
  readonly exit = 'partial';
  readonly code = 'partial';
}

/** Ctrl-C, SIGTERM. */
export class InterruptedError extends PetstockError {
  readonly exit = 'interrupted';
  readonly code = 'interrupted';
}

/** The reader of stdout went away (`| head`). Not a failure: the command ends quietly. */
export class ClosedPipeError extends PetstockError {
  readonly exit = 'ok';
  readonly code = 'closed_pipe';
}

/** `--exit-code`: a dry run has found changes. Not a failure: the exit code is the result, and nothing is said. */
export class ChangesFound extends PetstockError {
  readonly exit = 'changes';
  readonly code = 'changes';
}
