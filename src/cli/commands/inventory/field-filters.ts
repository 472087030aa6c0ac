import type { Texts } from '../../../inventory/filter.ts';
import { fieldOf, type TextField, textFields } from '../../../inventory/item-fields.ts';
import type { OptionRow } from '../command.ts';
import { listOf, required, words } from '../command.ts';

/** The values of the options for fields of text, by the name of the field. */
export type TextOptions = Readonly<Partial<Record<TextField, readonly string[]>>>;

/**
 * Returns an option for each field of text that pets can be filtered by: `--status <s,…>`.
 * @param which begins the description: `only pets with one of these`
 */
export function textOptions(which: string): readonly OptionRow[] {
  return textFields.flatMap((name): OptionRow[] => {
    const { filter } = fieldOf(name);
    if (filter === undefined) return [];
    const values = filter.values === undefined ? '' : `: ${filter.values.join(', ')}`;
    return [
      [
        `--${name} <${name.charAt(0)},…>`,
        `${which} ${filter.noun}${values}`,
        listOf({ ...words(filter.values ?? []), read: (text, option) => required(filter.parse(text), option) }),
      ],
    ];
  });
}

/** Returns the values that fields of text may have; undefined if no option is given. */
export function textsOf(options: TextOptions): Texts | undefined {
  const given = textFields.flatMap((name) => (options[name] === undefined ? [] : [[name, new Set(options[name])]]));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
