import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { UnknownFieldError } from '../../../src/core/index.ts';
import { listDeclaredOptions } from './declared-options.ts';
import { OPTION_SUBJECTS } from './option-subjects.ts';
import { createOptionsPage } from './options-page.ts';

for (const { name, declared, python, table, refused, use } of OPTION_SUBJECTS) {
  const options = [...listDeclaredOptions(declared), ...python];
  test(`${name}: every option of ADK is supported, has another name, or is refused`, () => {
    const known = new Set([...Object.keys(table.names), ...Object.keys(table.otherNames)]);
    assert.deepEqual(
      options.filter((option) => !known.has(option) && !Object.hasOwn(refused, option)),
      [],
      'have no row here',
    );
  });

  test(`${name}: an option that is not supported is an error that names it`, async () => {
    for (const option of options.filter((one) => !Object.hasOwn(table.names, one)))
      await assert.rejects(
        async () => use({ [option]: true }),
        (error) => {
          assert.ok(error instanceof UnknownFieldError, `${option}: ${String(error)}`);
          assert.match(error.message, new RegExp(`\\b${option}\\b`));
          const replacement = table.otherNames[option];
          if (replacement !== undefined) assert.ok(error.message.includes(replacement));
          return true;
        },
      );
  });

  test(`${name}: only options that ADK has are listed as refused`, () => {
    assert.deepEqual(
      Object.keys(refused).filter(
        (option) => !options.includes(option) || Object.hasOwn(table.names, option),
      ),
      [],
    );
  });
}

test('the page lists every option: npm run adk-parity writes it', () => {
  const path = new URL('../../../docs/conformance/adk-options.md', import.meta.url);
  assert.ok(readFileSync(path, 'utf8') === createOptionsPage(), 'adk-options.md is stale');
});
