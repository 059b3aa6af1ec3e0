import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatProperty, parseProperty } from '../../src/verify/index.ts';
import { formatForm, propertyForms } from '../../src/verify/internal.ts';

const page = readFileSync(new URL('../../docs/proofs.md', import.meta.url), 'utf8');
const rows = page.split('\n').map((line) => line.split(' | ').map((cell) => cell.trim()));

test('the documentation has the form and the meaning of every property', () => {
  for (const form of propertyForms) {
    const row = rows.find(([cell]) => cell === `| \`${formatForm(form)}\``);
    assert.equal(row?.[1]?.replace(/ *\|$/, ''), form.states, form.name);
  }
});

test('the examples of the documentation are properties', () => {
  const texts = rows.flatMap(([heading], start) => {
    if (heading?.startsWith('| text') !== true) return [];
    const end = rows.findIndex((cells, index) => index > start && cells.length < 2);
    return rows.slice(start + 2, end).map(([cell]) => cell?.replaceAll(/^\| `|`$/g, '') ?? '');
  });
  assert.equal(texts.length, 11);
  for (const text of texts) assert.equal(formatProperty(parseProperty(text)), text);
});
