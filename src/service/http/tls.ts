import { readFileSync, statSync } from 'node:fs';
import type { Server as PlainServer } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';

/** Paths of a certificate with its chain and of its private key, both in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Thrown if the certificate or its key can't be read or used, for example if they don't belong together. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
}

/** @throws TlsError if the files can't be read or used */
export function readTls({ cert, key }: TlsFiles): { readonly cert: Buffer; readonly key: Buffer } {
  try {
    // Reading a pipe would block, and no signal could end that.
    for (const file of [cert, key]) if (!statSync(file).isFile()) throw new Error(`${file} is not a file`);
    const pair = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TlsError(`The certificate ${cert} with the key ${key} can't be used: ${reason}`, { cause });
  }
}

/**
 * Makes a listening TLS server use the current files for new connections.
 * @throws TlsError if they can't be used; then nothing has changed
 */
export function renewTls(server: Server | PlainServer, files: TlsFiles): void {
  const pair = readTls(files);
  if ('setSecureContext' in server) return void server.setSecureContext(pair);
  // bun has no such method. It uses a new certificate when it listens again; pending requests are still answered.
  const { address: host, port } = server.address() as AddressInfo;
  const listening = { host, port, tls: pair };
  server.close();
  server.listen(listening);
}
