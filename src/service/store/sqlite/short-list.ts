import type { Database, Statement } from './database.ts';
import type { Pages } from './pages.ts';

/**
 * The whole inventory where one page holds it, read once for all who ask before anything is written. What this connection
 * writes, it is notified of; what others write shows in SQLite's data version.
 */
export class ShortList {
  readonly #pages: Pages;
  readonly #dataVersion: Statement;
  #version: bigint | null = null;
  #text: string | null = null;

  constructor(database: Database, pages: Pages) {
    this.#pages = pages;
    this.#dataVersion = database.prepare('PRAGMA data_version');
  }

  /** Null when it is longer than a page. */
  read(): string | null {
    const { data_version: version } = this.#dataVersion.get();
    if (version !== this.#version) {
      this.#text = this.#pages.single();
      this.#version = version;
    }
    return this.#text;
  }

  /** To be called after a change of the inventory, and before it is answered. */
  changed(): void {
    this.#version = null;
  }
}
