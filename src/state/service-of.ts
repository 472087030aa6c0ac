/**
 * Returns the service that is written to, by one name: scheme and host in lower case, without the default port, and without the slash and the
 * dot at their ends, and without percent-encodings that change nothing. All names of this machine are `localhost`, since two of them may be one
 * service.
 *
 * @param baseUrl `https://host/v1`, as `parseBaseUrl` returns it; what is no URL is its own name
 */
export function serviceOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const host = hostname.toLowerCase().replace(/\.$/, '');
  const name = isLoopback(host) ? 'localhost' : host;
  return `${protocol}//${name}${port === '' ? '' : `:${port}`}${plainPath(pathname).replace(/\/+$/, '')}`;
}

/** @param host as the WHATWG parser gives it: `127.1` is `127.0.0.1` already, `::ffff:127.0.0.1` is `[::ffff:7f00:1]` */
function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host)
  );
}

/** Decodes what needs no encoding, and spells the rest in one way: RFC 3986, 6.2.2. */
function plainPath(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}
