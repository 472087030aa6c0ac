/** What most scripts do. */
const headers = { authorization: `Bearer ${process.env.KEY}` };
const response = await fetch(`${process.env.URL}/inventory`, { headers });
process.stdout.write(await response.text());
