import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  listCodesInObjects,
  listErrorCodes,
  parseCodeComment,
  type ErrorCode,
} from '../scripts/error-codes.ts';
import { withErrorCodes } from '../scripts/error-page.ts';

const codes = listErrorCodes();

/** Codes that several classes have, with the reason. A subclass may have the code of its parent. */
const shared: Readonly<Record<string, string>> = {
  missing_package: 'an optional package is not installed: each folder has its own class',
  session_exists: 'the same for sessions of a runner and for sessions that are imported',
  session_not_found: 'the same for stores, managed sessions and the command line',
  llm_calls_limit_exceeded: 'the runner throws what ended the invocation',
};

const name = ({ code, className, file }: ErrorCode): string => `${file}: ${className ?? code}`;

test('docs/errors.md is what `npm run errors` writes', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8');
  assert.equal(withErrorCodes(page), page, 'Run `npm run errors` and commit docs/errors.md.');
});

test('the pages give each error class its own code', () => {
  const docs = join(import.meta.dirname, '../docs');
  const known = new Set(codes.map(({ className, code }) => `\`${className}\` (\`${code}\`)`));
  const wrong = globSync('**/*.md', { cwd: docs }).flatMap((page) =>
    [...readFileSync(join(docs, page), 'utf8').matchAll(/`\w+Error` \(`[a-z_]+`\)/g)]
      .filter(([named]) => !known.has(named))
      .map(([named]) => `${page}: ${named}`),
  );
  assert.deepEqual(wrong, []);
});

test('every error class and every code has a cause, and a remedy after @remedy', () => {
  assert.ok(codes.filter(({ className }) => className !== undefined).length > 90);
  assert.deepEqual(
    codes.filter(({ cause, remedy = '' }) => cause === '' || remedy === '').map(name),
    [],
  );
});

test('every literal `code` or `error_code` in an object is documented where it is set, or by a class', () => {
  const known = new Set(codes.map(({ code }) => code));
  assert.deepEqual(
    listCodesInObjects()
      .filter(({ code }) => !known.has(code))
      .map(({ file, code }) => `${file}: ${code}`),
    [],
  );
});

test('two classes do not share a code, unless one extends the other or the list has a reason', () => {
  const ofClasses = codes.filter(
    ({ className, inherited }) => className !== undefined && !inherited,
  );
  const several = [...Map.groupBy(ofClasses, ({ code }) => code)].filter(
    ([, classes]) => classes.length > 1,
  );
  assert.deepEqual(several.map(([code]) => code).toSorted(), Object.keys(shared).toSorted());
});

test('a doc comment is split into cause and remedy, and a missing remedy is seen', () => {
  const comment = '/**\n * It is\n * full.\n * @remedy Empty it.\n * @example\n * x\n */';
  assert.deepEqual(parseCodeComment(comment), { cause: 'It is full.', remedy: 'Empty it.' });
  assert.deepEqual(parseCodeComment('/** It is full. */'), {
    cause: 'It is full.',
    remedy: undefined,
  });
});

test('a code is in snake case', () => {
  const unusual = codes.map(({ code }) => code).filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code));
  // A process warning of Node has a code in upper case.
  assert.deepEqual([...new Set(unusual)], ['PETRICHOR_LISTENER', 'PETRICHOR_INPUT_REFUSED']);
});
