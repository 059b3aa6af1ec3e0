import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { InvalidInputError } from '../../core/index.ts';
import { openStore } from './open-store.ts';
import { UnsupportedStoreUrlError } from '../store-errors.ts';
import { parseStoreUrl } from './store-url.ts';

const files: readonly (readonly [url: string, file: string])[] = [
  ['sqlite:x.db', 'x.db'],
  ['sqlite:./x.db', './x.db'],
  ['sqlite:/x.db', '/x.db'],
  ['sqlite:///rel.db', 'rel.db'],
  ['sqlite:///./data/rel.db', './data/rel.db'],
  ['sqlite:////abs/x.db', '/abs/x.db'],
  ['sqlite+aiosqlite:///rel.db', 'rel.db'],
  ['sqlite+aiosqlite:////abs.db', '/abs.db'],
  ['SQLite:x.db', 'x.db'],
  ['x.db', 'x.db'],
  ['./a/x.db', './a/x.db'],
  ['/abs/x.db', '/abs/x.db'],
  ['C:\\data\\x.db', 'C:\\data\\x.db'],
];

for (const [url, file] of files) {
  test(`${url} is parsed as the file ${file}`, () => {
    assert.deepEqual(parseStoreUrl(url), { kind: 'sqlite', file });
  });
}

for (const url of [
  'memory:',
  'memory://',
  ':memory:',
  'sqlite::memory:',
  'sqlite:///:memory:',
  'sqlite://',
]) {
  test(`${url} is parsed as a memory store`, () => {
    assert.deepEqual(parseStoreUrl(url), { kind: 'memory' });
  });
}

for (const url of [
  'postgres://u:secret@h/d',
  'postgresql://h/d',
  'postgresql+asyncpg://u:secret@h/d',
]) {
  test(`the scheme ${url.split(':')[0]}: is known`, () => {
    assert.deepEqual(parseStoreUrl(url), { kind: 'postgres', url });
  });
}

for (const url of ['mysql://u:secret@h/d', 'mariadb://h/d', 'mysql+pymysql://u:secret@h/d']) {
  test(`the scheme ${url.split(':')[0]}: is known`, () => {
    assert.deepEqual(parseStoreUrl(url), { kind: 'mysql', url });
  });
}

test('Cloud Spanner is refused by name, with what to use instead', () => {
  assert.throws(
    () => parseStoreUrl('spanner+spanner:///projects/p'),
    /Spanner.*Use PostgreSQL or MySQL/,
  );
});

for (const url of [
  'spanner://u:secret@h/d',
  'sqlite://host/x.db',
  'sqlite:x.db?mode=ro',
  'memory:x',
  'file:x.db',
]) {
  test(`${url.replace('secret', '…')} is rejected, and the error contains no secret`, () => {
    assert.throws(
      () => parseStoreUrl(url),
      (error) => error instanceof UnsupportedStoreUrlError && !error.message.includes('secret'),
    );
  });
}

test('a missing URL is rejected', () => {
  assert.throws(() => parseStoreUrl(''), InvalidInputError);
});

for (const url of ['undefined', 'null', 'sqlite:undefined', 'sqlite:///undefined', 'sqlite:null']) {
  test(`${url}, made from a missing value, is rejected`, () => {
    assert.throws(
      () => parseStoreUrl(url),
      (error) => error instanceof InvalidInputError && error.message.includes('"./'),
    );
  });
}

test('a scheme without its colon is rejected, and is not the name of a file', () => {
  for (const url of ['memory', 'sqlite', 'postgres', 'MySQL'])
    assert.throws(() => parseStoreUrl(url), {
      name: 'InvalidInputError',
      message: new RegExp(`store: is "${url}", a scheme without its colon\\. .* "\\./${url}"\\.`),
    });
  assert.deepEqual(parseStoreUrl('./memory'), { kind: 'sqlite', file: './memory' });
});

test('a file can have the name of a missing value', () => {
  assert.deepEqual(parseStoreUrl('sqlite:./undefined'), { kind: 'sqlite', file: './undefined' });
});

test('a URL opens the store it names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  const file = await openStore(`sqlite:///${join(folder, 'x.db')}`);
  const memory = await openStore('memory:');
  assert.deepEqual([file.durability, memory.durability], ['crash', 'process']);
  await Promise.all([file.close(), memory.close()]);
  rmSync(folder, { recursive: true });
});
