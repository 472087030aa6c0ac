import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import tls from 'node:tls';
import { UsageError } from '../shared/errors.ts';
import { readErrorReason } from '../shared/file-error.ts';
import { type Environment, variable } from './variables.ts';

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** All authorities of a system are a tenth of it. */
const mostBytes = 16 * 1024 * 1024;

/**
 * The certificates in a file of `ca-file`, in PEM.
 * @throws UsageError if it can't be read, or holds none that can be used
 */
export function readAuthorities(file: string): string[] {
  const certificates = textOf(file).match(pem) ?? [];
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

function textOf(file: string): string {
  try {
    const stats = statSync(file);
    // Reading a pipe would wait, and no Ctrl-C would help, and a device may have no end.
    if (!stats.isFile()) throw unusable(file, stats.isDirectory() ? 'it is a folder, not a file' : 'it is not a file');
    // A file of the system's own, such as /proc/kmsg, has no size and may be waited for.
    if (stats.size === 0) return '';
    if (stats.size > mostBytes) throw unusable(file, 'it is too large to be a file of certificates');
    return readFileSync(file, 'latin1');
  } catch (error) {
    throw error instanceof UsageError ? error : unusable(file, readErrorReason(error), error);
  }
}

function unusable(file: string, reason: string, cause?: unknown): UsageError {
  return new UsageError(`The ca-file ${file} can't be used: ${reason}`, {
    cause,
    hint: "petstock config set ca-file '<file>'",
  });
}
