import { FailureError } from './errors.ts';

/**
 * The failure that says so if the system gave no more memory; undefined for any other error. If V8 itself gets none, it ends the
 * process instead.
 */
export function memoryShortage(thrown: unknown): FailureError | undefined {
  if (!(thrown instanceof RangeError) || !/out of memory|allocation failed/i.test(thrown.message)) return undefined;
  // undici makes its reader of answers when a connection is opened, before anything is sent.
  return new FailureError(tooLittle, { unsent: thrown.message.startsWith('WebAssembly.'), cause: thrown });
}

/** The WebAssembly that undici reads answers by reserves 10 GB of address space in Node 22 and before. */
const tooLittle =
  'The system gives petstock no more memory. A limit of the address space (ulimit -v) has to leave 12 GB, of which little is used.';
