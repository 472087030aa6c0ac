/** What most scripts do: fetch, JSON.parse, one text. */
const response = await fetch(`${process.env.URL}/inventory`, {
  headers: { authorization: `Bearer ${process.env.KEY}` },
});
const items = await response.json();
process.stdout.write(`${items.map(({ petId, quantity, status }) => `${petId}\t${quantity}\t${status}`).join('\n')}\n`);
