export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

interface Field {
  /** The column of the table `pets`. */
  readonly column: string;
  readonly type: 'int64' | 'integer' | 'status';
  readonly description: string;
}

/**
 * The fields of an inventory item, in the order of its JSON. The type of an item, the statements that read and write
 * it, and its schema in the OpenAPI document are made from them.
 */
export const itemFields = {
  petId: { column: 'id', type: 'int64', description: 'Identifier of the animal that the entry tracks.' },
  quantity: { column: 'quantity', type: 'integer', description: 'Current stock count.' },
  status: { column: 'status', type: 'status', description: 'Status of the pet.' },
} as const satisfies Readonly<Record<string, Field>>;

type FieldName = keyof typeof itemFields;

export const itemFieldNames = Object.keys(itemFields) as FieldName[];

/** One entry of the inventory. Its integers are exact int64. */
export type InventoryItem = {
  readonly [Name in FieldName]: (typeof itemFields)[Name]['type'] extends 'status' ? PetStatus : bigint;
};

/** An order. The specification leaves its fields open. */
export interface Order {
  readonly orderId: bigint;
  readonly petId: bigint;
  readonly quantity: bigint;
}

export interface Stock {
  /** The items, with unique ids. They may be iterated more than once. */
  readonly items: Iterable<InventoryItem>;
  readonly orders: readonly Order[];
}
