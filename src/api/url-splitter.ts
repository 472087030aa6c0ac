/** Nothing in such a path is written in another way by a URL: no dot, no character that it would encode. */
const plainPath = /^(?:\/[\w-]+)+$/;

/** Splits URLs as `URL` does. Most are of one service, so that its origin has to be looked at once. */
export function createUrlSplitter(): (url: string) => { readonly origin: string; readonly path: string } {
  let start = '';
  return (url) => {
    const rest = start !== '' && url.startsWith(start) ? url.slice(start.length) : '';
    if (plainPath.test(rest)) return { origin: start, path: rest };
    const parsed = new URL(url);
    if (url.startsWith(`${parsed.origin}/`)) start = parsed.origin;
    return { origin: parsed.origin, path: parsed.pathname + parsed.search };
  };
}
