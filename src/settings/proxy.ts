import { UsageError } from '../shared/errors.ts';
import { isLoopback } from './key-and-url.ts';
import { type Environment, type Sourced, variable } from './variables.ts';

/** A proxy; its value is the URL, with neither a login nor a path. */
export interface Proxy extends Sourced<string> {
  /** The URL, with `…` in place of a login. */
  readonly shown: string;
  /** The header `Proxy-Authorization`; undefined if the URL has neither a name nor a password. */
  readonly authorization: string | undefined;
}

/**
 * Returns the proxy for an address: `HTTPS_PROXY` for an https: address, `HTTP_PROXY` for an http: one, otherwise
 * `ALL_PROXY`. The lower-case form of each name takes precedence. Undefined if the connection is direct, as for a host
 * in `NO_PROXY`, and always for a loopback address.
 * @throws UsageError if the variable is not the URL of an HTTP proxy; its text is not repeated
 */
export function resolveProxy(baseUrl: string, env: Environment): Proxy | undefined {
  const url = new URL(baseUrl);
  const upper = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const source = eitherCase(upper, env) ?? eitherCase('ALL_PROXY', env);
  if (source === undefined || isLoopback(url.hostname.replace(/\.$/, '')) || isExempt(url, env)) return undefined;
  const text = variable(env, source) ?? '';
  // curl and gh also accept a bare host name.
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol) || proxy.hostname === '') {
    const rule = 'it must be the URL of an HTTP proxy, such as http://proxy.example:3128';
    throw new UsageError(
      `${source} is not valid: ${rule}. To connect without a proxy, add ${url.hostname} to NO_PROXY.`,
    );
  }
  const { protocol, host, username, password } = proxy;
  const authorization = username === '' && password === '' ? undefined : basic(username, password);
  const login = authorization === undefined ? '' : '…@';
  // As curl does, ignores a path, a query and a fragment.
  return { value: `${protocol}//${host}`, source, shown: `${protocol}//${login}${host}`, authorization };
}

/** Returns a login as curl sends it: `%40` is decoded, and a `%` that begins no such escape is meant literally. */
function basic(username: string, password: string): string {
  const login = `${username}:${password}`.replace(/%([\da-f]{2})/gi, (_escape, byte: string) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  return `Basic ${Buffer.from(login, 'latin1').toString('base64')}`;
}

function eitherCase(upper: string, env: Environment): string | undefined {
  return [upper.toLowerCase(), upper].find((name) => variable(env, name) !== undefined);
}

/**
 * Reports whether `NO_PROXY` contains a host. Its entries are separated by commas or white space. An entry is an
 * address, a host name (with its subdomains), or `*` for every host. A name or an address may have a port; an IPv6
 * address with a port is in brackets.
 */
function isExempt(url: URL, env: Environment): boolean {
  const source = eitherCase('NO_PROXY', env);
  const entries = (source === undefined ? '' : (variable(env, source) ?? '')).toLowerCase().split(/[\s,]+/);
  const host = plainHost(url.hostname);
  const ownPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    if (entry === '' || entry === '*') return entry === '*';
    const [, name = entry, port = ownPort] = /^([^:]+|\[.*\]):(\d+)$/.exec(entry) ?? [];
    const domain = plainHost(name.replace(/^\*?\./, ''));
    return port === ownPort && (host === domain || host.endsWith(`.${domain}`));
  });
}

/** Removes the dot at the end of a host name, and the brackets around an IPv6 address. */
function plainHost(hostname: string): string {
  return hostname.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
}
