/** Sends the changes of a CSV file by undici's pool: `pool.js <CSV file without quotes> <connections>`. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [file, connections] = process.argv.slice(2);
const { origin, pathname } = new URL(process.env.URL);
const headers = { authorization: `Bearer ${process.env.KEY}`, 'content-type': 'application/json' };
const pool = new Pool(origin, { connections: Number(connections) });
const changes = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1).values();

async function work() {
  for (const change of changes) {
    const [petId, quantity] = change.split(',');
    const path = `${pathname}/inventory/${petId}`;
    const response = await pool.request({ path, method: 'PATCH', headers, body: `{"quantity":${quantity}}` });
    const item = await response.body.json();
    if (response.statusCode !== 200) throw new Error(`${petId}: ${item.message}`);
  }
}
await Promise.all(Array.from({ length: Number(connections) }, work));
await pool.close();
