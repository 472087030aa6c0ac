import type { Parsed } from './variables.ts';

const loopbackNames = new Set(['localhost', '[::1]']);

/**
 * Reads the base URL of a service: `https:`, or `http:` on a loopback address (127.0.0.0/8, ::1, localhost), since any
 * other `http:` would show the key to the network. The path ends in `/v1`; one trailing slash is removed.
 *
 * A fault never repeats the text, which may hold a password.
 */
export function parseBaseUrl(text: string): Parsed<string> {
  // The WHATWG parser forgives much: it drops tabs and newlines, turns \ into /, and `https:a` into `https://a`.
  // A text that it would have to repair is refused here, so that the typed URL is the one in use.
  if (/[\s\\\p{Cc}]/u.test(text)) return fault('it contains white space or a backslash: give it as https://host/v1');
  if (!/^https?:\/\/[^/]/i.test(text))
    return fault('it must begin with https:// and a host: give it as https://host/v1');
  const url = urlOf(text);
  if (url === undefined) return fault('it is not a URL: give it as https://host/v1');
  if (
    text
      .replace(/^https?:\/\//i, '')
      .split(/[/?#]/, 1)
      .join()
      .includes('@')
  ) {
    return fault('it contains a user name or password: leave that out, the key is stored with petstock config set-key');
  }
  if (/[?#]/.test(text)) return fault('it contains a query or fragment: leave out everything from the ? or # on');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return fault(
      'http: would show the key to the network: use https: (http: is only for 127.0.0.1, [::1] and localhost)',
    );
  }
  const pathname = url.pathname.replace(/\/$/, '');
  if (!pathname.endsWith('/v1')) return fault('it must end in /v1');
  if (pathname.includes('//')) return fault('its path contains // : give it as https://host/v1');
  return { ok: true, value: url.origin + pathname };
}

/** Not `URL.canParse`: once V8 has optimised it, Node 20 takes Latin-1 for UTF-8 there and refuses `https://bücher.example`. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Takes a host name as the WHATWG parser normalised it: lower case, `127.1` and `0x7f.1` already as `127.0.0.1`. */
export function isLoopback(hostname: string): boolean {
  return loopbackNames.has(hostname) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

function fault(words: string): Parsed<string> {
  return { ok: false, fault: words };
}
