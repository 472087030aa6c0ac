/**
 * Reports whether a URL is below a base URL, the only place that the key may be sent to.
 * @param baseUrl ends in `/v1`, without a trailing slash
 */
export function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
  const base = new URL(baseUrl);
  if (origin !== base.origin || !pathname.startsWith(`${base.pathname}/`)) return false;
  try {
    // A server may decode `%2f` before it resolves `..`.
    return !/[/\\]\.\.(?:[/\\]|$)/.test(decodeURIComponent(pathname));
  } catch {
    return false;
  }
}

/** Maximum length of a URL in a message, in characters. */
const maxUrl = 100;

/** Shortens a URL chosen by the service, for use in a message. */
export function shownUrl(url: string): string {
  return url.length > maxUrl ? `${url.slice(0, maxUrl)}…` : url;
}
