import { request } from 'undici';

/** One try, for the clients that only pace. @throws an error with `retryAfter` in milliseconds after a 429 */
export function patch({ url, key }) {
  return async (petId, quantity) => {
    const { statusCode, headers, body } = await request(`${url}/inventory/${petId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ quantity }),
    });
    await body.dump();
    if (statusCode === 200) return;
    const retryAfter = statusCode === 429 ? Number(headers['retry-after']) * 1000 : undefined;
    throw Object.assign(new Error(`status ${statusCode}`), { retryAfter });
  };
}
