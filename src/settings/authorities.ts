import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import tls from 'node:tls';
import { FailureError, UsageError } from '../shared/errors.ts';
import { readErrorReason } from '../shared/file-error.ts';
import { readTrustedFile } from '../shared/private-files.ts';
import { type Environment, variable } from './variables.ts';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** All authorities of a system are a tenth of it. */
const maxBodyBytes = 16 * 1024 * 1024;

/**
 * The certificates in a file of `ca-file`, in PEM.
 * @throws UsageError if it can't be read, or holds none that can be used
 */
export function readAuthorities(file: string): string[] {
  const certificates = trustedText(file).match(pem) ?? [];
  if (certificates.length === 0) throw unusable(file, 'there is no certificate in PEM in it (BEGIN CERTIFICATE)');
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw unusable(file, `certificate ${index + 1} in it is damaged`, cause);
    }
  }
  return certificates;
}

/**
 * Every authority that is trusted with `ca-file`: as `NODE_EXTRA_CA_CERTS` does, the file adds to those that Node trusts.
 * @throws UsageError as `readAuthorities`
 */
export function authoritiesWith(file: string, env: Environment): string[] {
  const own = readAuthorities(file);
  // Since Node 22.15: with those of NODE_EXTRA_CA_CERTS and --use-system-ca.
  const { getCACertificates } = tls as { readonly getCACertificates?: (type: 'default') => string[] };
  if (getCACertificates !== undefined) return [...getCACertificates('default'), ...own];
  return [...tls.rootCertificates, ...extraAuthorities(env), ...own];
}

/** Returns the certificates that Node would have read itself. Like Node, it continues without a file that it can't read. */
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
    const text = readTrustedFile(file, maxBodyBytes);
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
  // Reading a pipe would wait, and no Ctrl-C would help.
  return stats.isFile() && stats.size <= maxBodyBytes ? readFileSync(file, 'latin1') : '';
}

const hint = "petstock config set ca-file '<file>'";

function unusable(file: string, reason: string, cause?: unknown): UsageError {
  return new UsageError(`The ca-file ${file} can't be used: ${reason}`, { cause, hint });
}
