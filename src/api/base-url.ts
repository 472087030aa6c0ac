/**
 * Reports whether a URL is below a base URL: a key may go there, and nowhere else.
 * @param baseUrl ends in `/v1`, without a slash behind it
 */
export function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
  const base = new URL(baseUrl);
  if (origin !== base.origin || !pathname.startsWith(`${base.pathname}/`)) return false;
  try {
    // A server may decode `%2f` before it looks for `..`.
    return !/[/\\]\.\.(?:[/\\]|$)/.test(decodeURIComponent(pathname));
  } catch {
    return false;
  }
}

/** In characters. */
const maxUrl = 100;

/** Returns a URL that a service has chosen for a sentence of ours. */
export function shownUrl(url: string): string {
  return url.length > maxUrl ? `${url.slice(0, maxUrl)}…` : url;
}
