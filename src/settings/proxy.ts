import { UsageError } from '../shared/errors.ts';
import { isLoopback } from './base-url.ts';
import { type Environment, type Sourced, variable } from './variables.ts';

/** A proxy, and the variable that names it. */
export interface Proxy extends Sourced<string> {
  /** Without its credentials. */
  readonly shown: string;
}

/**
 * The proxy on the way to an address, as curl and gh find it: `HTTPS_PROXY` for an https: address, `HTTP_PROXY` for an http: one,
 * lower case first, unless `NO_PROXY` names the host. Never for this machine itself. Undefined: the way is direct.
 *
 * @throws UsageError where the variable holds something that can't be a proxy; its text is not repeated
 */
export function resolveProxy(baseUrl: string, env: Environment): Proxy | undefined {
  const url = new URL(baseUrl);
  const upper = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const source = eitherCase(upper, env);
  if (source === undefined || isLoopback(withoutDot(url.hostname)) || isExempt(url, env)) return undefined;
  const text = variable(env, source) ?? '';
  // Both curl and gh take a host alone.
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol) || proxy.hostname === '') {
    throw new UsageError(`${source} cannot be used: it must be the URL of a proxy, such as http://proxy.example:3128.`);
  }
  const credentials = proxy.username === '' && proxy.password === '' ? '' : '…@';
  return { value: proxy.href, source, shown: `${proxy.protocol}//${credentials}${proxy.host}` };
}

function eitherCase(upper: string, env: Environment): string | undefined {
  return [upper.toLowerCase(), upper].find((name) => variable(env, name) !== undefined);
}

/**
 * `NO_PROXY`: host names separated by commas, each with its subdomains, or with a port; addresses, or ranges of them (`10.0.0.0/8`); `*` is
 * every host.
 */
function isExempt(url: URL, env: Environment): boolean {
  const source = eitherCase('NO_PROXY', env);
  const entries = (source === undefined ? '' : (variable(env, source) ?? '')).toLowerCase().split(/[\s,]+/);
  const hostname = withoutDot(url.hostname);
  const address = bitsOf(hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      // First as a whole: in `fe80::1:443` the last group is a part of the address.
      const range = bitsOfRange(entry);
      if (range !== undefined) return isWithin(address, range);
      const [, name = entry, entryPort] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const rangeAtPort = bitsOfRange(name);
      if (rangeAtPort !== undefined) return isWithin(address, rangeAtPort);
      const host = withoutDot(name.replace(/^\*?\./, ''));
      return hostname === host || hostname.endsWith(`.${host}`);
    });
}

/** `api.example.com.` is the same host as `api.example.com`. */
function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

/** An address as 32 or 128 digits of 0 and 1. @returns undefined for a name */
function bitsOf(hostname: string): string | undefined {
  const bits = (digits: string, radix: number, length: number) =>
    Number.parseInt(digits, radix).toString(2).padStart(length, '0');
  const text = hostname.replace(/^\[|\]$/g, '');
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text)) {
    return text
      .split('.')
      .map((part) => bits(part, 10, 8))
      .join('');
  }
  // The URL parser makes one form of the many that an IPv6 address has.
  if (!text.includes(':') || !URL.canParse(`http://[${text}]`)) return undefined;
  const [front = [], back = []] = new URL(`http://[${text}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].map((group) => bits(group, 16, 16)).join('');
}

/** What all addresses of a range, or an address alone, begin with, and how long they are. */
interface AddressRange {
  readonly start: string;
  readonly length: number;
}

/** @returns undefined for a name, or with a port */
function bitsOfRange(entry: string): AddressRange | undefined {
  const [network = '', prefix] = entry.split('/');
  const bits = bitsOf(network);
  if (bits === undefined || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
  return { start: bits.slice(0, Number(prefix ?? bits.length)), length: bits.length };
}

/** @param address undefined: a name, which no range has */
function isWithin(address: string | undefined, { start, length }: AddressRange): boolean {
  return address?.length === length && address.startsWith(start);
}
