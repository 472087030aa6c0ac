import { type Parsed, parsed, problem } from '../shared/parsed.ts';

/** No header takes more, and no service makes longer ones. */
const maxKey = 4096;

/**
 * Reads an API key as somebody pasted or piped it. White space around it goes away; a text that could not travel in a header,
 * or is evidently more than a key, is refused. A fault never repeats any of the text.
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
  return key.length > maxKey ? problem(`the key is longer than ${maxKey} characters: this is not a key`) : parsed(key);
}

/** Returns the part of a key that may be shown: `…` and its last 4 characters; of one shorter than 8 characters, nothing. */
export function maskKey(key: string): string {
  return key.length < 8 ? '…' : `…${key.slice(-4)}`;
}

/**
 * Reads the base URL of a service: `https:`, or `http:` on a loopback address (127.0.0.0/8, ::1, localhost), since any
 * other `http:` would show the key to the network. The path ends in `/v1`; one trailing slash is removed.
 *
 * A fault never repeats the text, which may hold a password.
 */
export function parseBaseUrl(text: string): Parsed<string> {
  // The WHATWG parser forgives much: it drops tabs and newlines, turns \ into /, and `https:a` into `https://a`.
  // A text that it would have to repair is refused here, so that the typed URL is the one in use.
  if (/[\s\\\x00-\x1f\x7f-\x9f]/.test(text))
    return problem('it contains white space or a backslash: give it as https://host/v1');
  const [scheme, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (scheme === undefined || /^https?:\/\/(\/|$)/i.test(text))
    return problem('it must begin with https:// and a host: give it as https://host/v1');
  const url = urlOf(text);
  if (url === undefined) return problem('it is not a URL: give it as https://host/v1');
  if (authority.includes('@'))
    return problem(
      'it contains a user name or password: leave that out, the key is stored with petstock config set-key',
    );
  if (/[?#]/.test(text)) return problem('it contains a query or fragment: leave out everything from the ? or # on');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return problem(
      'http: would show the key to the network: use https: (http: is only for 127.0.0.1, [::1] and localhost)',
    );
  }
  const pathname = url.pathname.replace(/\/$/, '');
  if (!pathname.endsWith('/v1')) return problem('it must end in /v1');
  return pathname.includes('//')
    ? problem('its path contains // : give it as https://host/v1')
    : parsed(url.origin + pathname);
}

/** Not `URL.canParse`: once V8 has optimised it, Node 20 reads Latin-1 as UTF-8 there and refuses `https://bücher.example`. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Reports whether a host name, as the WHATWG parser has normalised it, is this machine: `127.1` is already `127.0.0.1`. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]'].includes(hostname) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/**
 * Returns the service that is written to, by one name: scheme and host in lower case, without the default port, and without the slash and the
 * dot at their ends, and without percent-encodings that change nothing. All names of this machine are `localhost`, since two of them may be one
 * service.
 *
 * @param baseUrl `https://host/v1`, as `parseBaseUrl` returns it; what is no URL is its own name
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

/** Decodes what needs no encoding, and spells the rest in one way: RFC 3986, 6.2.2. */
function plainPath(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}
