/** Ours: the library as it is built, with its ledger in a folder that all its processes share. */
export async function connect({ url, key, library, stateFolder }) {
  const { createPetstoreClient } = await import(library);
  const client = createPetstoreClient({
    baseUrl: url,
    key,
    stateFolder,
    onFallback: (reason) => process.stderr.write(`petstock: ${reason.stack}\n`),
  });
  return (petId, quantity) => client.updateInventory(BigInt(petId), quantity);
}
