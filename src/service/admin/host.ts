import { isIP } from 'node:net';

/** True for an address of this machine that no other one reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * True when a Host header names this machine by an address, or as localhost. Any other name may belong to a web site that has
 * it point here, so that a browser takes its pages and this port for one origin (DNS rebinding).
 */
export function isLocalName(hostHeader: string | undefined): boolean {
  const name = hostHeader?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
