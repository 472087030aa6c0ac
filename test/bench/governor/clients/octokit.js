import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import Bottleneck from 'bottleneck/light.js';

/** GitHub's own pace of one write a second is lifted: else it would never come near the limit. */
export function connect({ url, key, atOnce }) {
  const Client = Octokit.plugin(retry, throttling);
  const octokit = new Client({
    baseUrl: url,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    throttle: {
      write: new Bottleneck.Group({ maxConcurrent: atOnce }),
      onRateLimit: () => true,
      onSecondaryRateLimit: () => true,
    },
  });
  const headers = { authorization: `Bearer ${key}` };
  return (petId, quantity) => octokit.request('PATCH /inventory/{petId}', { petId, quantity, headers });
}
