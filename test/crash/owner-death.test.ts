import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildHost } from './child-host.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { HostSequence } from './host-sequence.ts';

const slowCall = (text: string) => [{ name: 'slow', text }] as const;

test('a stopped owner keeps its session and continues later; a killed owner is replaced', async (t) => {
  using hosts = new HostSequence();
  await using owner = await ChildHost.start(hosts.next());
  await using peer = await ChildHost.start(hosts.next());
  const session = 'x';
  await owner.command({ do: 'open', session });
  await owner.command({ do: 'send', session, messageId: 'x-m1', requests: slowCall('first') });
  await owner.holding('first');
  const before = hosts.sessions.get(session) ?? assert.fail();

  owner.signal('SIGSTOP');
  // The other process opens, reads and sends to the session, and does not take it.
  await peer.command({ do: 'watch', session, from: 0 });
  for (let n = 0; n < 20; n++) {
    await peer.command({ do: 'open', session });
    assert.equal(
      (await peer.command<{ status: string }>({ do: 'status', session })).status,
      'running',
    );
  }
  await peer.command({ do: 'send', session, messageId: 'x-m2', requests: slowCall('second') });
  for (let n = 0; n < 20; n++) await peer.command({ do: 'open', session });
  const stopped = hosts.sessions.get(session) ?? assert.fail();
  assert.deepEqual(
    { owner: stopped.owner, epoch: stopped.epoch, events: stopped.events.length },
    { owner: before.owner, epoch: before.epoch, events: before.events.length },
  );

  owner.signal('SIGCONT');
  await owner.command({ do: 'release', text: 'first' });
  await peer.event(session, ({ type }) => type === 'turn.ended');
  // The owner also answers the message that was sent while it was stopped.
  await owner.holding('second');
  const { owner: ownerAfter, epoch } = hosts.sessions.get(session) ?? assert.fail();
  assert.deepEqual({ owner: ownerAfter, epoch }, { owner: before.owner, epoch: before.epoch });

  const killedAt = performance.now();
  owner.signal('SIGKILL');
  await peer.holding('second');
  t.diagnostic(`taken over ${(performance.now() - killedAt).toFixed(0)} ms after the kill`);
  await peer.command({ do: 'release', text: 'second' });
  await peer.event(session, (event) => event.type === 'turn.ended' && event.seq > 12);
  await peer.close();
  const after = hosts.sessions.get(session) ?? assert.fail();
  assert.deepEqual(after.gaps, []);
  assert.notEqual(after.owner, before.owner);
  const began = hosts.evidence.effects.filter(({ what }) => what === 'began');
  assert.deepEqual(
    began.map(({ run, attempt }) => [run, attempt]),
    [
      [1, 1],
      [1, 1],
      [2, 2],
    ],
  );
  const attempts = after.events.filter(({ type }) => type === 'tool.attempt');
  assert.equal(attempts.length, 1);
});

test('a stopped owner that is evicted loses its session, and can append nothing when it continues', async () => {
  using hosts = new HostSequence();
  await using owner = await ChildHost.start(hosts.next());
  await using peer = await ChildHost.start(hosts.next());
  const session = 'x';
  const requests = [
    { name: 'slow', text: 'again' },
    { name: 'stuck', text: 'once' },
  ] as const;
  await owner.command({ do: 'open', session });
  await owner.command({ do: 'send', session, messageId: 'x-m1', requests });
  await owner.holding('again');
  await owner.holding('once');
  const before = hosts.sessions.get(session) ?? assert.fail();
  owner.signal('SIGSTOP');

  const folder = new CommandFolder();
  const { code, stdout } = await folder.run([
    'evict',
    session,
    '--store',
    hosts.database,
    '--json',
  ]);
  assert.equal(code, 0);
  assert.deepEqual([stdout.json[0]?.['evicted'], stdout.json[0]?.['inFlight']], [before.owner, 2]);
  // `onCrash` decides: one call runs again, the other one ends with an unknown outcome.
  await peer.command({ do: 'watch', session, from: 0 });
  await peer.holding('again');
  await peer.command({ do: 'release', text: 'again' });
  await peer.event(session, ({ type }) => type === 'turn.ended');
  const after = hosts.sessions.get(session) ?? assert.fail();
  assert.notEqual(after.owner, before.owner);
  assert.ok(after.epoch > before.epoch);

  // The calls of the former owner end now. Its commits are refused.
  owner.signal('SIGCONT');
  await owner.command({ do: 'release', text: 'again' });
  await owner.command({ do: 'release', text: 'once' });
  await owner.command({
    do: 'send',
    session,
    messageId: 'x-m2',
    requests: [{ name: 'note', text: 'later' }],
  });
  await peer.event(
    session,
    (event) => event.type === 'turn.ended' && event.seq > after.events.length,
  );
  await owner.command({ do: 'idle', session });
  const last = hosts.sessions.get(session) ?? assert.fail();
  assert.deepEqual(last.gaps, []);
  assert.deepEqual(last.events.slice(0, after.events.length), after.events);
  const outcomes = last.events.flatMap((event) =>
    event.type === 'tool.result' ? [[event.name, event.outcome] as const] : [],
  );
  assert.equal(outcomes.length, 3);
  assert.deepEqual(Object.fromEntries(outcomes), { note: 'ok', slow: 'ok', stuck: 'unknown' });
  assert.equal(last.events.filter(({ type }) => type === 'turn.ended').length, 2);
});

test('a waiting process takes over every session of a killed process', async () => {
  using hosts = new HostSequence();
  await using owner = await ChildHost.start(hosts.next());
  await using peer = await ChildHost.start(hosts.next());
  const names = Array.from({ length: 8 }, (_, n) => `s${n}`);
  for (const session of names) {
    await owner.command({ do: 'open', session });
    await owner.command({
      do: 'send',
      session,
      messageId: `${session}-m1`,
      requests: slowCall(session),
    });
  }
  await Promise.all(names.map(async (session) => owner.holding(session)));
  await owner.kill();
  // The peer takes them over without a command.
  await Promise.all(names.map(async (session) => peer.holding(session)));
  for (const session of names) {
    await peer.command({ do: 'release', text: session });
    await peer.command({ do: 'idle', session });
  }
  await peer.close();
  for (const { status, gaps } of hosts.sessions.values())
    assert.deepEqual({ status, gaps }, { status: 'idle', gaps: [] });
});

test('after a clean close the next process repeats interrupted calls, and no outcome is unknown', async () => {
  using hosts = new HostSequence();
  const first = await ChildHost.start(hosts.next());
  const session = 'x';
  await first.command({ do: 'open', session });
  await first.command({
    do: 'send',
    session,
    messageId: 'x-m1',
    requests: [
      { name: 'slow', text: 'held' },
      { name: 'note', text: 'a' },
    ],
  });
  await first.holding('held');
  await first.close();
  await using second = await ChildHost.start(hosts.next());
  await second.holding('held');
  await second.command({ do: 'release', text: 'held' });
  await second.command({ do: 'idle', session });
  const { events } = hosts.sessions.get(session) ?? assert.fail();
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    ['ok', 'ok'],
  );
});
