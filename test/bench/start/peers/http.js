/** The least that one request takes in Node. */
import { get } from 'node:http';

const headers = { authorization: `Bearer ${process.env.KEY}` };
get(`${process.env.URL}/inventory`, { headers }, (response) => {
  const chunks = [];
  response.on('data', (chunk) => chunks.push(chunk)).on('end', () => process.stdout.write(Buffer.concat(chunks)));
});
