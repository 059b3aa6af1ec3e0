import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeStoreUrl } from './describe-store-url.ts';

test('the URL of a database is shown without user, password and options', () => {
  const shown = {
    'postgres://user:secret@host:5432/db': 'postgres://host:5432/db',
    'postgresql+asyncpg://user:secret@host/db?ssl=true': 'postgresql://host/db',
    'postgres://host/db?user=u&password=secret': 'postgres://host/db',
    'postgres://user:s@cr/e?t@host/db': 'postgres://host/db',
    'postgres:///db?host=/run/postgresql&password=secret': 'postgres:///db',
    'MySQL://user:secret@[::1]:3306/db': 'MySQL://[::1]:3306/db',
    'mariadb+pymysql://user:secret@host/db': 'mariadb://host/db',
    'postgres://host/db': 'postgres://host/db',
  };
  for (const [url, text] of Object.entries(shown)) assert.equal(describeStoreUrl(url), text);
});

test('other stores are shown as they are', () => {
  for (const url of ['memory:', 'sqlite:a@b.db', 'sessions.db', 'sqlite:////data/a?b.db'])
    assert.equal(describeStoreUrl(url), url);
});
