import { Agent, RetryAgent } from 'undici';

export function connect({ url, key }) {
  const dispatcher = new RetryAgent(new Agent(), { methods: ['PATCH'], statusCodes: [429], maxRetries: 50 });
  const { origin, pathname } = new URL(url);
  return async (petId, quantity) => {
    const { statusCode, body } = await dispatcher.request({
      origin,
      path: `${pathname}/inventory/${petId}`,
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ quantity }),
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  };
}
