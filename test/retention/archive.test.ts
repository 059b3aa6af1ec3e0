import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { exportArtifacts } from '../../src/runtime/copies/artifact-item.ts';
import { exportSessionItems } from '../../src/runtime/copies/export-session-items.ts';
import {
  applyRetention,
  DamagedCopyError,
  removeOrphans,
  SessionArchive,
} from '../../src/runtime/index.ts';
import type { RetentionOptions, RetentionResult } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { FileArtifactService, FileObjectStore } from '../../src/tools/index.ts';
import type { ObjectStore } from '../../src/tools/index.ts';
import { fakeS3 } from '../artifacts/fake-s3.ts';
import { fakeServer } from '../artifacts/fake-server.ts';
import { isSigned } from '../artifacts/signature.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { noteAgent, openNoter } from '../copies/loaded-store.ts';

const DAY = 86_400_000;
const POLICY = { rules: [{ archiveAfterDays: 30 }] };
const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'trip' };

/** A command line with a clock 60 days after now. */
class Operator {
  readonly folder = new CommandFolder();
  readonly clock = new SimulatedClock(Date.now() + 60 * DAY);
  readonly policy = this.folder.write('policy.json', JSON.stringify(POLICY));

  at(name: string): string {
    return join(this.folder.path, name);
  }

  async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): ReturnType<CommandFolder['run']> {
    const running = this.folder.start([...args], { input: '', clock: this.clock, env });
    return { ...running, code: await running.exit };
  }

  /** Makes the session `trip` of two turns, with an artifact. */
  async converse(runs: string[]): Promise<void> {
    await using runtime = await openNoter(this.at('old.db'), runs, this.at('artifacts'));
    const session = await runtime.session('trip');
    for (const text of ['first', 'second']) assert.equal(await session.ask(text), 'Noted.');
  }
}

test('an archived session is fetched back and continues, and its finished tools do not run again', async () => {
  const operator = new Operator();
  const { at, policy } = { at: (name: string) => operator.at(name), policy: operator.policy };
  const runs: string[] = [];
  await operator.converse(runs);
  const options = ['--store', at('old.db'), '--artifacts', at('artifacts')];
  const planned = await operator.run(['retain', policy, ...options, '--dry-run']);
  assert.match(planned.stdout.text, /^1 would be archived or deleted, 0 would be trimmed, 0 kept/m);
  const retained = await operator.run(['retain', policy, ...options, '--archive', at('far')]);
  assert.equal(retained.code, 0, retained.stderr.text);
  assert.match(retained.stdout.text, /^archived: session "trip" of user default.*: file:/m);
  assert.match(retained.stdout.text, /^1 archived, 0 deleted, 0 trimmed, 0 kept/m);
  const left = await operator.run(['sessions', '--store', at('old.db'), '--json']);
  assert.deepEqual(left.stdout.json, []);

  const listed = await operator.run(['archived', '--archive', at('far'), '--json']);
  assert.deepEqual(
    listed.stdout.json.map(({ key }) => key),
    [KEY],
  );
  const shown = await operator.run(['archived', '--archive', at('far'), '--user', 'default']);
  assert.match(shown.stdout.text, /^trip +default +petrichor +20/m);
  const none = await operator.run(['archived', '--archive', at('far'), '--user', 'ada']);
  assert.match(none.stdout.text, /no sessions in this archive/);

  const target = ['--store', at('old.db'), '--artifacts', at('new')];
  const unknown = await operator.run(['import', 'tripp', '--archive', at('far'), ...target]);
  assert.match(unknown.stderr.text, /The archive has no session "tripp"/);
  const imported = await operator.run(['import', 'trip', '--archive', at('far'), ...target]);
  assert.equal(imported.code, 0, imported.stderr.text);
  assert.match(imported.stdout.text, /^Imported session "trip" of user default, app petrichor: /);
  const saved = new FileArtifactService({ rootDir: at('new') });
  assert.deepEqual(await saved.versions({ session: KEY, name: 'notes.txt' }), [0, 1]);
  const again = await operator.run(['import', 'trip', '--archive', at('far'), ...target]);
  assert.match(again.stderr.text, /exists already, and nothing was written/);

  // Its age counts from the import.
  const kept = await operator.run(['retain', policy, ...options, '--archive', at('far')]);
  assert.match(kept.stdout.text, /^0 archived, 0 deleted, 0 trimmed, 0 kept/m);
  const later: string[] = [];
  {
    await using runtime = await openNoter(at('old.db'), later);
    const session = await runtime.session('trip');
    const texts: string[] = [];
    for await (const { type } of session.events(0)) {
      texts.push(type);
      if (type === 'turn.ended' && texts.filter((one) => one === type).length === 2) break;
    }
    assert.equal(await session.ask('third'), 'Noted.');
  }
  assert.deepEqual(runs, ['first', 'second']);
  assert.deepEqual(later, ['third']);
  operator.clock.advance(31 * DAY);
  const second = await operator.run(['retain', policy, ...options, '--archive', at('far')]);
  assert.match(second.stdout.text, /^1 archived/m);
  // The newest copy is the one with three turns.
  const third = await operator.run(['import', 'trip', '--archive', at('far'), ...target, '--json']);
  assert.ok(
    Number(third.stdout.json[0]?.['events']) >
      Number(imported.stdout.text.match(/(\d+) events/)?.[1]),
  );
});

test('sessions are archived in a bucket with signed requests, and a refused one leaves its session', async () => {
  const operator = new Operator();
  await operator.converse([]);
  const key = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };
  const { objects, answer } = fakeS3('cold');
  let signed = 0;
  const server = await fakeServer((request) => {
    if (!isSigned(request, key))
      return { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' };
    signed++;
    return answer(request);
  });
  try {
    const place = `s3://cold/fleet?region=eu-central-1&endpoint=${encodeURIComponent(server.url)}`;
    const store = ['--store', operator.at('old.db')];
    const retain = ['retain', operator.policy, ...store, '--archive', place];
    const credentials = {
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'wrong-secret',
    };
    const refused = await operator.run(retain, credentials);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout.text, /^failed: .*SignatureDoesNotMatch, HTTP status 403/m);
    assert.doesNotMatch(refused.stdout.text + refused.stderr.text, /secret|AKID/);
    assert.deepEqual(objects.names(), []);
    const env = { ...credentials, AWS_SECRET_ACCESS_KEY: key.secretAccessKey };
    const archived = await operator.run(retain, env);
    assert.match(
      archived.stdout.text,
      /: s3:\/\/cold\/fleet\/sessions\/petrichor\/default\/trip\/\w{64}\.journal/,
    );
    assert.equal(objects.names().length, 1);
    const listed = await operator.run(['archived', '--archive', 'env:ARCHIVE'], {
      ...env,
      ARCHIVE: place,
    });
    assert.match(listed.stdout.text, /^trip /m);
    const args = ['import', 'trip', '--archive', place, '--app', 'petrichor', '--user', 'default'];
    const imported = await operator.run([...args, ...store], env);
    assert.equal(imported.code, 0, imported.stderr.text);
    assert.ok(signed >= 5);
  } finally {
    await server.stop();
  }
});

test('an invalid place of an archive is refused without showing it', async () => {
  const operator = new Operator();
  const cases: readonly (readonly [string, RegExp])[] = [
    ['s3://id:pass-word@bucket', /has credentials\. Set AWS_ACCESS_KEY_ID/],
    ['s3:///x', /names no bucket/],
    ['s3://bucket?regoin=x', /has the parameter "regoin"/],
    ['s3://bucket?endpoint=ftp://pass-word', /no http or https URL/],
    ['s3://bucket?endpoint=https://u:pass-word@host', /without credentials/],
    ['gopher://bucket', /has the scheme "gopher:"/],
    ['', /must name a folder or a bucket/],
  ];
  for (const [place, message] of cases)
    for (const args of [['archived'], ['retain', operator.policy], ['import', 'trip'], ['serve']]) {
      const { code, stderr } = await operator.run(
        [...args, '--retention', operator.policy]
          .slice(0, args[0] === 'serve' ? 3 : args.length)
          .concat('--archive', place),
      );
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr.text, message);
      assert.doesNotMatch(stderr.text, /pass-word/);
    }
  for (const args of [
    ['retain', operator.policy],
    ['serve', '--retention', operator.policy],
  ]) {
    const { code, stderr } = await operator.run(args);
    assert.equal(code, 2);
    assert.match(
      stderr.text,
      /--archive: is missing, and the policy has a rule with archiveAfterDays/,
    );
  }
  const alone = await operator.run(['serve', '--archive', operator.at('far')]);
  assert.match(alone.stderr.text, /--archive needs --retention/);
});

/** A store with the session `trip`, whose last record is 40 days old. */
async function openOld(): Promise<{
  readonly store: MemoryStore;
  readonly clock: SimulatedClock;
  readonly runtime: Runtime;
  readonly apply: (options: RetentionOptions) => Promise<readonly RetentionResult[]>;
}> {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  await (await runtime.session('trip')).ask('first');
  clock.advance(40 * DAY);
  const apply = async (options: RetentionOptions): Promise<readonly RetentionResult[]> => {
    const results: RetentionResult[] = [];
    for await (const result of applyRetention(store, POLICY, { clock, ...options }))
      results.push(result);
    return results;
  };
  return { store, clock, runtime, apply };
}

test('a copy that cannot be read back as it was written does not lose its session', async () => {
  const { store, runtime, apply } = await openOld();
  await using _ = runtime;
  const folder = new CommandFolder();
  const second = await openOld();
  await using otherRuntime = second.runtime;
  await (await otherRuntime.session('trip')).ask('more');
  second.clock.advance(40 * DAY);
  const elsewhere = new FileObjectStore(join(folder.path, 'other'));
  await second.apply({ archive: new SessionArchive(elsewhere) });
  const place = 'sessions/petrichor/default/trip';
  const [name = ''] = await elsewhere.list(place);
  const other = await elsewhere.read(`${place}/${name}`);
  const faults: Readonly<Record<string, Partial<ObjectStore>>> = {
    'is damaged': {
      read: async () => ({ bytes: Buffer.from('not gzip'), contentType: '', about: '{}' }),
    },
    'is not there': { read: async () => undefined },
    'is that of another state': { read: async () => other },
    'could not be used': { create: async () => Promise.reject(new Error('secret header')) },
  };
  for (const [message, fault] of Object.entries(faults)) {
    const objects = Object.assign(new FileObjectStore(join(folder.path, message)), fault);
    const [result] = await apply({ archive: new SessionArchive(objects) });
    assert.equal(result?.outcome, 'failed');
    const text = result.error instanceof Error ? result.error.message : '';
    assert.ok(text.includes(message), text);
    assert.doesNotMatch(text, /secret/);
    assert.ok(await store.find(KEY));
  }
});

test('a session that changes while it is archived stays, and its next copy is the newer one', async () => {
  const { store, clock, runtime: opened, apply } = await openOld();
  await using runtime = opened;
  const folder = new CommandFolder();
  const archive = new SessionArchive(new FileObjectStore(folder.path), { clock });
  const session = await runtime.session('trip');
  const [late] = await apply({
    archive,
    remove: async (key, condition) => {
      await session.ask('late');
      return store.delete(key, condition);
    },
  });
  assert.equal(late?.outcome, 'changed');
  clock.advance(40 * DAY);
  // A step between the decision and the export: nothing is written.
  const before = readdirSync(join(folder.path, 'sessions/petrichor/default/trip'));
  const [moved] = await apply({
    archive,
    exportSession: async function* (key) {
      await session.ask('later');
      yield { type: 'journal', version: 2, redacted: false };
      yield* store.exportItems({ session: key });
    },
  });
  assert.equal(moved?.outcome, 'changed');
  assert.deepEqual(readdirSync(join(folder.path, 'sessions/petrichor/default/trip')), before);
  clock.advance(40 * DAY);
  const [done] = await apply({ archive });
  assert.equal(done?.outcome, 'archived');
  const copies = await archive.copies(KEY);
  assert.equal(copies.length, 2);
  assert.equal(copies[0]?.uri, done.copy?.uri);
  const { events } = await archive.restore(KEY, store);
  assert.equal(await countEvents(store), events);
  assert.equal(await (await runtime.session('trip')).ask('on'), 'Noted.');
});

test('several processes that archive at once write each session once, and none of them fails', async () => {
  const { store, clock, runtime, apply } = await openOld();
  await using _ = runtime;
  for (const id of ['two', 'three']) await (await runtime.session(id)).ask('first');
  clock.advance(31 * DAY);
  const folder = new CommandFolder();
  const passes = await Promise.all(
    ['one', 'two', 'three'].map(async () =>
      apply({ archive: new SessionArchive(new FileObjectStore(folder.path), { clock }) }),
    ),
  );
  const results = passes.flat();
  const archived = results.filter(({ outcome }) => outcome === 'archived');
  assert.deepEqual(archived.map(({ key }) => key.sessionId).toSorted(), ['three', 'trip', 'two']);
  assert.ok(results.every(({ outcome }) => outcome === 'archived' || outcome === 'changed'));
  const archive = new SessionArchive(new FileObjectStore(folder.path), { clock });
  for (const { key } of archived) {
    assert.equal((await archive.copies(key)).length, 1);
    await archive.restore(key, store);
  }
  // Another process was faster, between the decision and the export.
  clock.advance(31 * DAY);
  const late = await apply({
    archive,
    exportSession: async function* (key) {
      await store.delete(key);
      yield* store.exportItems({ session: key });
    },
  });
  assert.deepEqual(
    late.map(({ outcome }) => outcome),
    ['changed', 'changed', 'changed'],
  );
});

test('a copy of another session at the place of a session is refused', async () => {
  const { store, runtime, apply } = await openOld();
  await using _ = runtime;
  const folder = new CommandFolder();
  const objects = new FileObjectStore(folder.path);
  const archive = new SessionArchive(objects);
  await apply({ archive });
  const [name = ''] = readdirSync(join(folder.path, 'sessions/petrichor/default/trip'));
  const object = await objects.read(`sessions/petrichor/default/trip/${name}`);
  assert.ok(object);
  await objects.create(`sessions/petrichor/eve/trip/${name}`, object);
  await assert.rejects(archive.restore({ ...KEY, userId: 'eve' }, store), DamagedCopyError);
  await assert.rejects(archive.restore({ ...KEY, userId: 'bob' }, store), {
    code: 'session_not_archived',
  });
  // What others put there is left alone.
  mkdirSync(join(folder.path, 'sessions/petrichor/default/trip/notes'));
  writeFileSync(join(folder.path, 'sessions/petrichor/default/trip/notes/a'), '');
  await archive.restore(KEY, store);
  assert.ok(await store.find(KEY));
});

test('a session that is fetched back has its artifacts once, also if they are still there or go meanwhile', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  await (await runtime.session('trip')).ask('first');
  const folder = new CommandFolder();
  const archive = new SessionArchive(new FileObjectStore(folder.path), { clock });
  const artifacts = new FileArtifactService({ rootDir: join(folder.path, 'artifacts'), clock });
  const artifact = { session: KEY, name: 'note' };
  for (const text of ['one', 'two']) await artifacts.save(artifact, { text }, { saveId: text });
  const exportSession = async function* (): AsyncGenerator<object> {
    yield* exportSessionItems(store, KEY);
    yield* exportArtifacts(artifacts, [KEY]);
  };
  const importItems = store.importItems.bind(store);
  for (const isVacuumed of [false, true]) {
    clock.advance(40 * DAY);
    const options = { archive, clock, exportSession };
    for await (const { outcome } of applyRetention(store, POLICY, options))
      assert.equal(outcome, 'archived');
    let removed = 0;
    let imports = 0;
    store.importItems = async (...args) => {
      // The first one is a rehearsal, before artifacts are saved.
      if (++imports === 2 && isVacuumed)
        removed += (await removeOrphans(store, { artifacts, clock })).artifacts;
      return importItems(...args);
    };
    await archive.restore(KEY, store, { artifacts });
    assert.equal(removed, isVacuumed ? 1 : 0);
    assert.deepEqual(await artifacts.versions(artifact), [0, 1]);
    assert.deepEqual(await artifacts.load(artifact), { text: 'two' });
  }
});

test('names of any length and with any characters come back from an archive', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  const ids = ['a/b', '~x', '..', 'ü'.repeat(200)];
  await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  for (const user of ids) await (await runtime.session('trip', { user })).ask('first');
  clock.advance(40 * DAY);
  const folder = new CommandFolder();
  const archive = new SessionArchive(new FileObjectStore(folder.path), { clock });
  for await (const { outcome } of applyRetention(store, POLICY, { archive, clock }))
    assert.equal(outcome, 'archived');
  // Another program may have folders beside those of the archive.
  for (const name of ['100%', 'Lost Found'])
    mkdirSync(join(folder.path, 'sessions', 'petrichor', name, 'trip', 'copy', 'x'), {
      recursive: true,
    });
  const found: string[] = [];
  for await (const key of archive.list({ app: 'petrichor', session: 'trip' })) {
    found.push(key.userId);
    await archive.restore(key, store);
  }
  assert.deepEqual(found.toSorted(), ids.toSorted());
  assert.equal((await store.list({})).length, ids.length);
});

async function countEvents(store: MemoryStore): Promise<number> {
  let events = 0;
  for await (const _ of store.read(KEY)) events++;
  return events;
}
