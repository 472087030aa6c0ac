import { type Parsed, parsed, problem } from '../shared/parsed.ts';

/** Maximum length of a key in characters. No service creates longer keys. */
const maxKey = 4096;

/**
 * Parses an API key that was pasted or piped. Trims white space, and rejects text that can't be sent in a header or is
 * evidently more than a key. Errors never repeat any of the text.
 */
export function parseKey(text: string): Parsed<string> {
  const key = text.trim();
  if (key === '') return problem('the key is empty');
  if (/^(authorization\s*:|bearer(\s|$))/i.test(key)) {
    return problem('the key begins with the word "Bearer" or "Authorization": give only what comes after it');
  }
  if (/^["'`]|["'`]$/.test(key)) return problem('the key is in quotation marks: leave them out');
  if (/\s/.test(key)) return problem('the key contains white space or more than one line: give the key alone');
  if (!/^[\x21-\x7e]+$/.test(key)) return problem('the key contains characters that no key has: copy it again');
  return key.length > maxKey
    ? problem(`the text is longer than ${maxKey} characters, so it can't be a key`)
    : parsed(key);
}

/** Returns what may be shown of a key: `…` and its last 4 characters, or only `…` if it has fewer than 8. */
export function maskKey(key: string): string {
  return key.length < 8 ? '…' : `…${key.slice(-4)}`;
}

/** Matches what begins like a key: `psk_…`, `pk_live_…`. Any other key is only known if a variable has it. */
const keyPattern = /(?<![a-z\d])(?:psk|sk|pk)[-_][\w-]{8,}/gi;

/** Returns a text with `[not shown]` for each key in it. */
export function withoutKeys(text: string, known: readonly string[] = []): string {
  const hidden = '[not shown]';
  return known.reduce((rest, key) => rest.replaceAll(key, hidden), text).replace(keyPattern, hidden);
}

/** The advice if a key was typed. */
export const keyInHistory =
  "A key on the command line stays in the shell's history. If that was a real key, remove it from the history";

/**
 * Parses the base URL of a service: `https:`, or `http:` on a loopback address (127.0.0.0/8, ::1, localhost), because
 * any other `http:` would reveal the key to the network. The path ends in `/v1`; one trailing slash is removed.
 *
 * Errors never repeat the text, because it may contain a password.
 */
export function parseBaseUrl(text: string): Parsed<string> {
  // The WHATWG parser corrects much: it drops tabs and newlines, turns \ into /, and `https:a` into `https://a`. Text
  // that it would have to correct is rejected here, so that the typed URL is the one in use.
  if (/[\s\\\x00-\x1f\x7f-\x9f]/.test(text))
    return problem('it contains white space or a backslash: give it as https://host/v1');
  const [scheme, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (scheme === undefined || /^https?:\/\/(\/|$)/i.test(text))
    return problem('it must begin with https:// and a host: give it as https://host/v1');
  const url = urlOf(text);
  if (url === undefined) return problem('it is not a URL: give it as https://host/v1');
  if (authority.includes('@'))
    return problem(
      'it contains a user name or password: leave them out, because the key is given to petstock separately',
    );
  if (/[?#]/.test(text)) return problem('it contains a query or fragment: leave out everything from the ? or # on');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return problem(
      'http would reveal the key to the network: use https (http is allowed only for 127.0.0.1, [::1] and localhost)',
    );
  }
  const pathname = url.pathname.replace(/\/$/, '');
  if (!pathname.endsWith('/v1')) return problem('it must end in /v1');
  return pathname.includes('//')
    ? problem('its path contains // : give it as https://host/v1')
    : parsed(url.origin + pathname);
}

/**
 * Parses a URL; returns undefined if it is not valid. `URL.canParse` is not used: once V8 has optimised it, Node 20
 * reads Latin-1 as UTF-8 there and rejects `https://bücher.example`.
 */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Reports whether a host, normalized by the WHATWG parser, is a loopback address: `127.1` is already `127.0.0.1`. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]'].includes(hostname) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/**
 * Returns a canonical name of the service: scheme and host in lower case, without the default port, trailing slashes
 * and dots, and needless percent-encodings. All loopback addresses become `localhost`, because two of them may be one
 * service.
 * @param baseUrl `https://host/v1`, as returned by `parseBaseUrl`; a text that is not a URL is returned unchanged
 */
export function serviceNameOf(baseUrl: string): string {
  const url = urlOf(baseUrl);
  if (url === undefined) return baseUrl;
  const { protocol, port, pathname } = url;
  const host = url.hostname.replace(/\.$/, '');
  const isHere =
    isLoopback(host) || host.endsWith('.localhost') || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host);
  return `${protocol}//${isHere ? 'localhost' : host}${port === '' ? '' : `:${port}`}${plainPath(pathname).replace(/\/+$/, '')}`;
}

/**
 * Decodes the characters of a path that need no percent-encoding, and writes the other encodings in upper case: RFC
 * 3986, 6.2.2.
 */
function plainPath(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}
