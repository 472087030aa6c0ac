import { anyText } from '../support/any-text.ts';
import fc from '../support/seeded-fast-check.ts';

const texts = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom(...'ab,;"\t\n\r\\ \x1b\x9b\u202e') }));

/** Rows of one shape with every kind of value. */
export const rowLists = fc.array(
  fc.record({
    id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    text: texts,
    'a, "name"\tof\\its own': fc.oneof(texts, fc.constant(null)),
    count: fc.maxSafeInteger().map((value) => value + 0),
    flag: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);
