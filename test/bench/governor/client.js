/**
 * One process of one client: is told what to write, says when it is ready, begins at the moment that all processes of a
 * scenario begin at, and reports every request that went over the wire. With `every` it is somebody else who uses the key
 * at a fixed rate, and never minds an answer.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { clients } from './clients.js';
import { monotonic, watchWire } from './wire.js';

process.once('disconnect', () => process.exit());
process.once('message', async ({ client, service, writes, atOnce, every }) => {
  if (every !== undefined) return useKey(service, every);
  const wire = watchWire(new URL(service.url).origin);
  const write = await clients[client](service);
  process.once('message', async ({ startAt }) => {
    await delay(Math.max(0, startAt - monotonic()));
    const failures = await writeAll(writes, atOnce, write);
    process.send({ done: monotonic(), failures, wire: wire.requests });
  });
  process.send('ready');
});

/** @returns what went wrong, as text */
async function writeAll(writes, atOnce, write) {
  const failures = [];
  const queue = writes.values();
  const work = async () => {
    for (const { petId, quantity } of queue) {
      await write(petId, quantity).catch((error) => failures.push(`${petId}: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failures;
}

function useKey({ url, key }, every) {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${key}` };
  const send = () => {
    request(`${url}/store/orders`, { agent, headers }, (response) => response.resume())
      .on('error', () => {})
      .end();
  };
  send();
  setInterval(send, every);
  process.send('ready');
}
