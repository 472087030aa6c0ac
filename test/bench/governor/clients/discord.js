import { DefaultRestOptions, REST } from '@discordjs/rest';

/**
 * Discord's API tells by `X-RateLimit-Reset-After` when a window ends, and by `X-RateLimit-Global` that a 429 is about
 * all routes; with both made from what this service tells, the client can do what it is made for.
 */
export function connect({ url, key }) {
  const [, api, version] = /^(.*)\/v(\d+)$/.exec(url);
  const makeRequest = async (...args) => {
    const response = await DefaultRestOptions.makeRequest(...args);
    const { headers, status } = response;
    const resetAfter = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    headers.set('x-ratelimit-reset-after', String(Math.max(0, resetAfter)));
    if (status === 429) headers.set('x-ratelimit-global', 'true');
    return response;
  };
  const rest = new REST({ api, version, authPrefix: 'Bearer', makeRequest }).setToken(key);
  return (petId, quantity) => rest.patch(`/inventory/${petId}`, { body: { quantity } });
}
