import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import tls from 'node:tls';
import { FailureError, readErrorReason, UsageError } from '../shared/errors.ts';
import { readTrustedFile } from '../shared/private-files.ts';
import { type Environment, variable } from './variables.ts';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** Maximum size of a file of certificates in bytes, many times the size of all authorities of a system. */
const maxFileBytes = 16 * 1024 * 1024;

/**
 * Reads the certificates in a `ca-file`, in PEM format.
 * @throws UsageError if it can't be read, if another user could have changed it, or if it contains no certificate or a
 * damaged one
 */
export function readAuthorities(file: string): string[] {
  const certificates = trustedText(file).match(pem) ?? [];
  if (certificates.length === 0) throw unusable(file, 'it contains no certificate in PEM format (BEGIN CERTIFICATE)');
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw unusable(file, `its certificate ${index + 1} is damaged`, cause);
    }
  }
  return certificates;
}

/**
 * Returns all trusted authorities: those that Node trusts, with those of `NODE_EXTRA_CA_CERTS`, and those in the
 * `ca-file`.
 * @throws the errors of `readAuthorities`
 */
export function authoritiesWith(file: string, env: Environment): string[] {
  const own = readAuthorities(file);
  // Node has this function since 22.15. It includes the authorities of NODE_EXTRA_CA_CERTS and --use-system-ca.
  const { getCACertificates } = tls as { readonly getCACertificates?: (type: 'default') => string[] };
  if (getCACertificates !== undefined) return [...getCACertificates('default'), ...own];
  return [...tls.rootCertificates, ...extraAuthorities(env), ...own];
}

/** Returns the certificates in the file of `NODE_EXTRA_CA_CERTS`. Like Node, ignores a file that can't be read. */
function extraAuthorities(env: Environment): string[] {
  const file = variable(env, 'NODE_EXTRA_CA_CERTS');
  try {
    return file === undefined ? [] : (textOf(file).match(pem) ?? []);
  } catch {
    return [];
  }
}

function trustedText(file: string): string {
  try {
    const text = readTrustedFile(file, maxFileBytes);
    if (text === undefined) throw unusable(file, 'there is no such file');
    return text;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof FailureError) throw new UsageError(error.message, { cause: error, hint: error.hint ?? hint });
    throw unusable(file, readErrorReason(error), error);
  }
}

function textOf(file: string): string {
  const stats = statSync(file);
  // Reading a pipe could block, and Ctrl-C would not end that.
  return stats.isFile() && stats.size <= maxFileBytes ? readFileSync(file, 'latin1') : '';
}

const hint = "petstock config set ca-file '<file>'";

function unusable(file: string, reason: string, cause?: unknown): UsageError {
  return new UsageError(`The ca-file ${file} can't be used: ${reason}`, { cause, hint });
}
