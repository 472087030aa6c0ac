/**
 * One process of one client: is told what to write, says when it is ready, begins at the moment that all processes of a
 * scenario begin at, and reports every request that went over the wire.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { monotonic, watchWire } from './wire.js';

process.once('disconnect', () => process.exit());
process.once('message', async ({ client, service, writes, atOnce }) => {
  const wire = watchWire(new URL(service.url).origin);
  try {
    const { connect } = await import(`./clients/${client}.js`);
    const write = await connect(service);
    process.once('message', async ({ startAt }) => {
      await delay(Math.max(0, startAt - monotonic()));
      const failures = await writeAll(writes, atOnce, write);
      process.send({ done: monotonic(), failures, wire: wire.requests });
    });
    process.send({ ready: true });
  } catch (error) {
    process.send({ ready: false, missing: error.code === 'ERR_MODULE_NOT_FOUND', reason: String(error.message) });
  }
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
