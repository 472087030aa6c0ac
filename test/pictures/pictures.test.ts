import { expect, test } from 'vitest';
import { screenOf, svgOf } from './svg.ts';

test('keeps only the last drawing of a screen line, with its colours', () => {
  expect(screenOf('\r\x1b[K1/3\r\x1b[K2/3\r\x1b[K\x1b[1mPet\x1b[22m  \x1b[31m0\x1b[39m\nlast\n')).toEqual([
    [
      { text: 'Pet', column: 0, bold: true, dim: false, color: undefined },
      { text: '  ', column: 3, bold: false, dim: false, color: undefined },
      { text: '0', column: 5, bold: false, dim: false, color: 'red' },
    ],
    [{ text: 'last', column: 0, bold: false, dim: false, color: undefined }],
  ]);
});

test('draws text in a picture word by word', () => {
  const svg = svgOf({ title: 'a "b"', columns: 80, lines: screenOf('<&>  7 → 12\n') });
  expect(svg).toContain('<title>a &quot;b&quot;</title>');
  expect(svg.match(/<text .*/g)).toEqual([
    '<text x="16" y="60" textLength="25.2">&lt;&amp;&gt;</text>',
    '<text x="58" y="60" textLength="8.4">7</text>',
    '<text x="74.8" y="60" textLength="8.4">→</text>',
    '<text x="91.6" y="60" textLength="16.8">12</text>',
  ]);
});
