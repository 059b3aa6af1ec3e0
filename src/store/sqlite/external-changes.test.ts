import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitOk, createSession, nextStep, summary } from '../contract/sample-steps.ts';
import type { ChangeOrigin } from '../store.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

const input = { place: 'in', value: null };

test('a change of another process says whether it may have left work for a runtime here', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-external-'));
  const file = join(folder, 'store.db');
  const here = await openSqliteStore(file, { pollMs: 1 });
  t.after(async () => here.close());
  const there = await openSqliteStore(file, { pollMs: 1 });
  t.after(async () => there.close());
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await here.join('here');
  await there.join('there');
  const own = await createSession(here, 'here', 'own');
  const other = await createSession(there, 'there', 'other');
  let onChange: (origin: ChangeOrigin) => void = () => {};
  here.subscribe((changed, origin) => {
    if (changed === 'any') onChange(origin);
  });
  const after = async (change: () => Promise<unknown>): Promise<ChangeOrigin> => {
    const { promise, resolve } = Promise.withResolvers<ChangeOrigin>();
    onChange = resolve;
    await change();
    return promise;
  };

  // The first change shows the owners.
  assert.equal(await after(async () => createSession(there, 'there', 'second')), 'input');
  assert.equal(await after(async () => createSession(there, 'there', 'third')), 'elsewhere');
  assert.equal(await after(async () => there.inject(other.key, input, 'a')), 'elsewhere');
  const started = nextStep(other, undefined, {
    inboxUpTo: 1,
    summary: summary({ inFlight: 1 }),
  });
  assert.equal(await after(async () => commitOk(there, [started])), 'elsewhere');
  // An owner gives a session away in the middle of its work, and takes it back.
  assert.equal(await after(async () => there.evict(other.key)), 'input');
  assert.equal(await after(async () => there.claim(other.key, 'there')), 'elsewhere');
  // An input for an owner here, until it is read.
  assert.equal(await after(async () => there.inject(own.key, input, 'b')), 'input');
  await commitOk(here, [nextStep(own, undefined, { inboxUpTo: 1 })]);
  assert.equal(await after(async () => there.touch(other.key)), 'elsewhere');
  // An owner leaves without giving its sessions away.
  assert.equal(await after(async () => there.leave('there')), 'input');
});
