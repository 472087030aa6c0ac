import { FailureError } from '../shared/errors.ts';

/**
 * @param keepMark whether a byte order mark at the beginning is a character like any other
 * @throws FailureError where it is no UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, keepMark = false): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes);
  } catch (cause) {
    throw new FailureError('The answer of the service is not UTF-8 text', { cause });
  }
}
