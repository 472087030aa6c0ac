// Sends writes through the library: `node governor-loop.js <options as JSON>`.
const { library, requests, concurrency, ...options } = JSON.parse(process.argv[2]);
const { createPetstoreClient } = await import(library);
const client = createPetstoreClient({ maxWait: 120_000, ...options });
const outcome = { answered: 0, failed: [] };
let left = requests;

async function work() {
  while (left > 0) {
    left -= 1;
    try {
      // Writes of the same pet would wait for each other.
      await client.updateInventory(BigInt((left % 20) + 1), left);
      outcome.answered += 1;
    } catch (error) {
      outcome.failed.push(`${error.name}: ${error.message}`);
    }
  }
}

await Promise.all(Array.from({ length: concurrency }, work));
await client.close();
process.stdout.write(JSON.stringify(outcome));
