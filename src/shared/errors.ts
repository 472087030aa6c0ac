import type { Target } from './hint.ts';
import { uncapitalized } from './parsed.ts';
import { isBlank } from './sanitize.ts';

/** The exit codes of petstock by name, except for SIGTERM and SIGHUP. Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  changes: 3,
  auth: 4,
  unavailable: 5,
  'rate-limited': 6,
  conflict: 7,
  partial: 8,
  'not-found': 9,
  rejected: 10,
  interrupted: 130,
} as const;

export type ExitCodeName = keyof typeof exitCodes;

/** The exit codes of a command that was interrupted, by signal, as in a shell. */
export const signalExitCodes = { SIGINT: exitCodes.interrupted, SIGTERM: 143, SIGHUP: 129 } as const;
export type EndingSignal = keyof typeof signalExitCodes;

/** The Error body of the service, if it sent one. */
export interface ServiceError {
  readonly code: string;
  readonly message: string;
  /** HTTP status, 100 to 599. */
  readonly status: number;
}

/** An error in a file. */
export interface ErrorFault {
  /** The number of the line, from 1; in a JSON list on a single line, the number of the item. */
  readonly line: number;
  /** The name of the column or JSON field. */
  readonly column?: string | undefined;
  readonly message: string;
}

/** The codes of petstock's own errors. */
export type ErrorCode =
  | 'usage'
  | 'unauthorized'
  | 'unavailable'
  | 'untrusted_certificate'
  | 'rate_limited'
  | 'conflict'
  | 'not_found'
  | 'rejected'
  | 'failure'
  | 'partial'
  | 'interrupted'
  | 'closed_pipe'
  | 'changes';

/** The base class of all errors that petstock expects. */
export abstract class PetstockError extends Error {
  /** The name of the exit code for this error. */
  abstract readonly kind: ExitCodeName;
  /** A machine-readable code in lower snake case. In JSON output the service's own code takes precedence. */
  abstract readonly code: ErrorCode;
  /** The next step, usually as a command to run, like `petstock config set-key --env staging`. */
  readonly hint?: string | undefined;
  /** Further lines for display, such as one for each error in a file. */
  readonly lines: readonly string[];
  /** The first 1,000 errors in a file, for programs; `lines` describes these errors for display. */
  readonly faults: readonly ErrorFault[];
  /** The total number of errors in the file. */
  readonly faultCount: number;
  /** The id of the run, if one had begun. */
  readonly run?: string | undefined;
  /** The store and environment that the error is about; by default those chosen for the command. */
  readonly target?: Target | undefined;
  /**
   * The source of the rejected key, for display, such as `stdin`; empty if it is not known. If this is absent, the
   * settings of `target` show the source.
   */
  readonly keySource?: string | undefined;
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
  /**
   * The Error body of the service, without the key; its texts have at most 1,000 characters. `message` does not repeat
   * them.
   */
  readonly serviceError?: ServiceError | undefined;
  /** Whether `message` means the same as the text of the service, so that `serviceError` need not be shown. */
  readonly isReworded?: boolean | undefined;
  /** Seconds until the same command may succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * The daily limit, if it is used up for this command. `resetAt`: milliseconds since the Unix epoch, by the service's
   * clock.
   */
  readonly day?: { readonly limit: number; readonly left: number; readonly resetAt: number } | undefined;
  /** Whether the request was certainly not carried out: it was never sent, or each attempt was refused with a 429. */
  readonly notCarriedOut: boolean;
  /**
   * Whether the request may still be in flight and be carried out later: it was sent, and the service itself sent no
   * final response (as after a reset, a timeout, a 408, 502 or 504).
   */
  readonly mayBeInFlight: boolean;
  /** The signal that ended the command. */
  readonly signal?: EndingSignal | undefined;

  constructor(message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    Object.assign(this, details);
    this.lines = details.lines ?? [];
    this.faults = details.faults ?? [];
    this.faultCount = details.faultCount ?? this.faults.length;
    this.notCarriedOut = details.notCarriedOut ?? false;
    this.mayBeInFlight = details.mayBeInFlight ?? false;
  }

  /**
   * Returns a copy with `changes` applied. Its cause defaults to this error's cause, or to this error if it has none.
   */
  with({ message = this.message, ...changes }: ErrorDetails & { readonly message?: string | undefined }): this {
    const { kind, code, name: _name, ...own } = this;
    const details = { ...own, cause: this.cause ?? this, ...changes };
    // The error is not created by its own constructor, because that may take other arguments.
    return Object.assign(Reflect.construct(PetstockError, [message, details], this.constructor), { kind, code });
  }
}

/** The fields of an error besides its message. All may be left out. */
export type ErrorDetails = {
  readonly [Field in Exclude<keyof PetstockError, keyof Error | 'kind' | 'code' | 'with'>]?:
    | PetstockError[Field]
    | undefined;
} & {
  readonly cause?: unknown;
};

/** Wrong arguments or settings, a rejected plan, or a missing confirmation. The user can correct the command. */
export class UsageError extends PetstockError {
  readonly kind = 'usage';
  readonly code = 'usage';
}

/** There is no key, or the service returned 401. */
export class AuthError extends PetstockError {
  readonly kind = 'auth';
  readonly code = 'unauthorized';
}

/** The network failed, a request timed out, the service returned 5xx, or the state or a lock is unavailable. */
export class UnavailableError extends PetstockError {
  readonly kind = 'unavailable';
  readonly code: 'unavailable' | 'untrusted_certificate' = 'unavailable';
}

/** Nothing was sent, and retrying does not help, for example because a proxy requires a password. */
export class NonRetryableError extends UnavailableError {}

/** The certificate of the service was rejected before anything was sent. */
export class CertificateError extends NonRetryableError {
  override readonly code = 'untrusted_certificate';
}

/** The service refused a request with a 429, or the rate limit requires a longer wait than the command allows. */
export class RateLimitedError extends PetstockError {
  readonly kind = 'rate-limited';
  readonly code = 'rate_limited';
}

/** The stock is not the expected one, or another process is using or has finished the same pet or run. */
export class ConflictError extends PetstockError {
  readonly kind = 'conflict';
  readonly code = 'conflict';
}

/** The service returned 404, or a pet or a run does not exist. */
export class NotFoundError extends PetstockError {
  readonly kind = 'not-found';
  readonly code = 'not_found';
}

/** The service returned a 4xx other than 401, 404 and 429. */
export class RejectedError extends PetstockError {
  readonly kind = 'rejected';
  readonly code = 'rejected';
}

/** Any other failure, such as an invalid response, a full disk or a bug. */
export class FailureError extends PetstockError {
  readonly kind = 'failure';
  readonly code = 'failure';
}

/** A command succeeded only in part: rows were not written, are unknown or differ, or a count has unknown codes. */
export class PartialError extends PetstockError {
  readonly kind = 'partial';
  readonly code = 'partial';
}

/** The command was interrupted by Ctrl-C, SIGTERM or SIGHUP. */
export class InterruptedError extends PetstockError {
  readonly kind = 'interrupted';
  readonly code = 'interrupted';
}

/** The reader of stdout has exited (`| head`). This is not a failure, so the command ends silently. */
export class ClosedPipeError extends PetstockError {
  readonly kind = 'ok';
  readonly code = 'closed_pipe';
}

/**
 * With `--exit-code`, a dry run has found changes, or a comparison differences; or `watch --first` has seen no change.
 * This is not a failure: the exit code is the result, and no error is printed.
 */
export class ChangesFound extends PetstockError {
  readonly kind = 'changes';
  readonly code = 'changes';
}

/** Returns the text of the service to show below the message of an error; none if there is nothing to add. */
export function serviceQuotes({ serviceError, isReworded }: Pick<PetstockError, 'serviceError' | 'isReworded'>) {
  return serviceError === undefined || isReworded || isBlank(serviceError.message) ? [] : [serviceError.message];
}

export function statusSentence(status: number | undefined): string {
  return `The service returned ${status}`;
}

/** Maximum length of a quote of the service in a sentence, in characters. */
const maxQuote = 200;

/** Describes why a request failed, as a clause: `the service returned 503 ("down for maintenance")`. */
export function failureText(error: unknown): string {
  if (!(error instanceof PetstockError)) return String((error as Error).message ?? error);
  const { status, serviceError, message } = error;
  if (status === undefined) return uncapitalized(message);
  const words = serviceError?.message ?? '';
  if (words === '') return `the service returned ${status}`;
  const quote = words.length > maxQuote ? `${words.slice(0, maxQuote)}…` : words;
  return `the service returned ${status} (${JSON.stringify(quote)})`;
}

/**
 * Returns the error for a system without free memory; undefined for any other error. If V8 itself gets no memory, it
 * ends the process instead.
 */
export function memoryShortage(thrown: unknown): FailureError | undefined {
  if (!(thrown instanceof RangeError) || !/out of memory|allocation failed/i.test(thrown.message)) return undefined;
  return new FailureError(tooLittle, { cause: thrown });
}

/** undici's response parser in WebAssembly reserves 10 GB of address space in Node 22 and earlier. */
const tooLittle =
  'The system gives petstock no more memory. A limit on the address space (ulimit -v) must allow 12 GB, although little of that is used.';

/** Returns the signal that has aborted a command; SIGINT for Ctrl-C and for any other reason. */
export function endingSignalOf({ reason }: AbortSignal): EndingSignal {
  return (reason instanceof InterruptedError ? reason.signal : undefined) ?? 'SIGINT';
}

export function exitCodeOf(error: PetstockError, interrupted: AbortSignal): number {
  if (!(error instanceof InterruptedError)) return exitCodes[error.kind];
  return signalExitCodes[error.signal ?? endingSignalOf(interrupted)];
}

/** Windows does not let a program replace a file that another one has open. */
export const openElsewhere = 'another program, such as Excel, has it open: close it there and try again';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'you have no permission to write there',
  EPERM: 'you have no permission to write there',
  EROFS: 'the disk is read-only',
  EBUSY: openElsewhere,
  ENOSPC: 'the disk is full',
  EDQUOT: 'your disk quota is used up',
  EFBIG: 'the file is too large',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
};

/** Returns the code of a system error, such as `ENOENT`; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/**
 * Returns why a file or folder could not be created or written, as the end of a sentence; by default the system's own
 * message.
 */
export function fileErrorReason(error: unknown): string {
  return reasons[systemCode(error) ?? ''] ?? (error as Error).message;
}

const readReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
};

/** Returns why a file could not be read, as the end of a sentence; by default the system's own message. */
export function readErrorReason(error: unknown): string {
  return readReasons[systemCode(error) ?? ''] ?? fileErrorReason(error);
}

/** Messages for system errors that concern no particular file. */
const failures: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space and try again',
  EDQUOT: 'Your disk quota is used up. Free some space and try again',
  EROFS: 'The disk is read-only',
  EIO: 'Reading or writing failed on the disk or terminal',
  EMFILE: 'Too many files are open. Raise the limit with ulimit -n',
  ENFILE: 'Too many files are open on this machine',
};

/** Describes a system error without a file; undefined if its own message is best. */
export function systemFailureText(error: unknown): string | undefined {
  return failures[systemCode(error) ?? ''];
}
