/** What most scripts do: `fetch.js <file> <at once>`. */
import { readChanges, work } from './changes.js';

const [file, atOnce] = process.argv.slice(2);
const headers = { authorization: `Bearer ${process.env.KEY}`, 'content-type': 'application/json' };

await work(readChanges(file), Number(atOnce), async (petId, quantity) => {
  const body = `{"quantity":${quantity}}`;
  const response = await fetch(`${process.env.URL}/inventory/${petId}`, { method: 'PATCH', headers, body });
  const item = await response.json();
  if (!response.ok) throw new Error(`${petId}: ${item.message}`);
});
