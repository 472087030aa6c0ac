import { Agent } from 'node:http';
import got from 'got';

export function connect({ url, key }) {
  const client = got.extend({
    prefixUrl: url,
    agent: { http: new Agent({ keepAlive: true }) },
    headers: { authorization: `Bearer ${key}` },
    retry: { limit: 50, methods: ['PATCH'], statusCodes: [429] },
  });
  return (petId, quantity) => client.patch(`inventory/${petId}`, { json: { quantity } }).json();
}
