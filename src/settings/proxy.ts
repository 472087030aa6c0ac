import { UsageError } from '../shared/errors.ts';
import { isLoopback } from './base-url.ts';
import type { Sourced } from './settings.ts';
import { type Environment, variable } from './variables.ts';

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
  if (source === undefined || isLoopback(url.hostname) || isExempt(url, env)) return undefined;
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

/** `NO_PROXY`: host names separated by commas, each with its subdomains, or with a port; `*` is every host. */
function isExempt(url: URL, env: Environment): boolean {
  const source = eitherCase('NO_PROXY', env);
  const entries = (source === undefined ? '' : (variable(env, source) ?? '')).toLowerCase().split(/[\s,]+/);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, entryPort] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
      const host = name.replace(/^\*?\./, '').replace(/\.$/, '');
      const isPort = entryPort === undefined || entryPort === port;
      return isPort && (url.hostname === host || url.hostname === `[${host}]` || url.hostname.endsWith(`.${host}`));
    });
}
