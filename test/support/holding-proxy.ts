import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { portOf } from './answering.ts';

/** In front of a service: holds back what a test wants to be on its way, so that no run is over too soon on a slow machine. */
export interface HoldingProxy {
  /** As that of the service. */
  readonly url: string;
  /** Resolves once something is held back. */
  readonly held: Promise<void>;
  /** Lets go what is held back, and all that comes. */
  release(): void;
}

/** @param holds which requests */
export async function holdingProxy(
  service: string,
  holds: (method: string, path: string) => boolean,
): Promise<HoldingProxy> {
  const target = new URL(service);
  const agent = new Agent({ keepAlive: true });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method, headers, url: path } = incoming;
    const { hostname, port } = target;
    const passed = request({ hostname, port, method, path, headers: { ...headers, host: target.host }, agent });
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  };
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '' } = incoming;
    const isGone = once(outgoing, 'close').then(() => 'gone');
    if (holds(method, path)) {
      hold();
      if ((await Promise.race([released, isGone])) === 'gone') return;
    }
    forward(incoming, outgoing);
  });
  onTestFinished(() => agent.destroy());
  return { url: `http://127.0.0.1:${await portOf(server)}${target.pathname}`, held, release };
}
