/** So many items at a time, of which a question for all of them can be asked. */
export async function* inPages<Item>(items: AsyncIterable<Item>, size = 500): AsyncGenerator<readonly Item[], void> {
  let page: Item[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
