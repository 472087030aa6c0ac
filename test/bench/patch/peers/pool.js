/** undici's pool: `pool.js <file> <connections>`. */
import { Pool } from 'undici';
import { readChanges, work } from './changes.js';

const [file, connections] = process.argv.slice(2);
const { origin, pathname } = new URL(process.env.URL);
const headers = { authorization: `Bearer ${process.env.KEY}`, 'content-type': 'application/json' };
const pool = new Pool(origin, { connections: Number(connections) });

await work(readChanges(file), Number(connections), async (petId, quantity) => {
  const path = `${pathname}/inventory/${petId}`;
  const { statusCode, body } = await pool.request({ path, method: 'PATCH', headers, body: `{"quantity":${quantity}}` });
  const item = await body.json();
  if (statusCode !== 200) throw new Error(`${petId}: ${item.message}`);
});
await pool.close();
