import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Opens a network in front of a service. It delays what a client sends, and delivers it even if the client has ended by
 * then, so that requests arrive in another order than they were sent.
 * @param target the base URL of the service
 * @param most the usual longest delay in milliseconds; one request in seven takes twice as long
 * @returns the base URL behind the network
 */
export async function slowNetwork(target: string, most: number, random: () => number): Promise<string> {
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    let line = Promise.resolve();
    client.on('data', (data) => {
      const at = performance.now() + (random() < 0.15 ? 2 * most : (random() * most) / 6);
      line = line.then(async () => {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
        if (upstream.writable) upstream.write(data);
      });
    });
    upstream.on('data', (data) => client.writable && client.write(data));
    // What was sent is delivered, and its answer is awaited for a moment.
    const end = () => void line.then(() => setTimeout(() => upstream.destroy(), 500));
    client.on('close', end).on('error', () => {});
    upstream.on('close', () => client.destroy()).on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(target);
  url.port = `${(server.address() as AddressInfo).port}`;
  return url.href.replace(/\/$/, '');
}
