import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent, AgentDefinition } from '../../agents/index.ts';
import { ModelError, ScriptedModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';
import {
  applyRecord,
  decodeMarking,
  emptyMarking,
  encodeMarking,
  replayRecords,
} from '../../net/journal/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { CommittedStep } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';
import type { InspectedRecord } from './inspected-record.ts';
import { toShape } from './value-detail.ts';

const SECRET = 'blue-elephant';

/** Calls the tool `look` for each message, then answers. */
const script = (): ScriptedModel =>
  new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { text: `I look for ${SECRET}.`, toolCalls: [{ name: 'look', args: { at: SECRET } }] }
      : { text: `Found ${SECRET}.` },
  );

function createLooker(options: Partial<AgentDefinition> = {}): Agent {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
    execute: (_, { state }) => {
      state.increment('looks');
      state.set('found', SECRET);
      return { saw: SECRET };
    },
  });
  return agent({ name: 'looker', model: script(), tools: [look], ...options });
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function say(session: Session, ...messages: readonly string[]): Promise<void> {
  for (const message of messages) for await (const _ of session.send(message));
}

test('records have their step, time, transition, firing, and the tokens they took and gave', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, `Find ${SECRET}`);
  const records = await collect(session.records());
  assert.deepEqual(
    records.map(({ record }) => record),
    records.map((_, index) => index + 1),
  );
  const steps = await collect(runtime.store.steps(session.key, 0));
  assert.deepEqual(
    records.map(({ record, step, at }) => [record, step, at]),
    steps.flatMap(({ step, records: own }) => own.map(({ seq, at }) => [seq, step, at])),
  );
  const built = records.find(({ transition }) => transition === 'turn.start');
  assert.partialDeepStrictEqual(built, {
    kind: 'fired',
    firing: built?.record,
    lists: [{ place: 'conversation', change: 'append', length: 1, added: 1 }],
  });
  assert.deepEqual(built?.taken.map(({ place, count }) => [place, count]).toSorted(), [
    ['turn.permit', 1],
    ['user.in', 1],
  ]);
  assert.match(JSON.stringify(built?.taken), new RegExp(SECRET));
  assert.ok(built?.given.some(({ place, count }) => place === 'turn.budget' && count > 1));
  const start = records.find(
    ({ transition, kind }) => transition === 'tool.run' && kind === 'started',
  );
  const end = records.find(({ firing, kind }) => firing === start?.record && kind === 'ended');
  assert.equal(start?.firing, start?.record);
  assert.equal(end?.outcome, 'ok');
  assert.deepEqual(
    end?.given.map(({ place }) => place),
    ['tool.write'],
  );
  const put = records.find(({ maps }) => maps?.some(({ count }) => count === 2));
  assert.deepEqual(put?.maps?.[0]?.writes, { set: { found: SECRET }, increment: { looks: 1 } });
});

test('taken, reset and given tokens add up to the marking at every record', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, 'one', 'two');
  const counts = new Map<string, number>();
  for await (const { record, taken, reset = [], given, stored } of session.records()) {
    for (const { place, count } of [...taken, ...reset])
      counts.set(place, (counts.get(place) ?? 0) - count);
    for (const { place, count } of given) counts.set(place, (counts.get(place) ?? 0) + count);
    assert.equal(stored?.seq, record);
    const { places } = await session.markingAt(record, { values: 'none' });
    assert.deepEqual(
      Object.fromEntries([...counts].filter(([, count]) => count > 0)),
      Object.fromEntries(
        Object.entries(places).flatMap(([name, { kind, count }]) =>
          kind === 'tokens' ? [[name, count]] : [],
        ),
      ),
      `record ${record}`,
    );
  }
  assert.ok(counts.size > 8);
});

test('a client recomputes every marking from the stored records, from any record on', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, 'one', 'two');
  const stored = (await collect(session.records())).map(
    ({ stored: record }) => record ?? assert.fail(),
  );
  const marking = emptyMarking();
  for (const record of stored) {
    applyRecord(marking, record);
    const { encoded } = await session.markingAt(record.seq);
    assert.deepEqual(encoded, encodeMarking(marking), `record ${record.seq}`);
    const rest = stored.slice(record.seq);
    assert.deepEqual(
      encodeMarking(replayRecords(rest, decodeMarking(encoded))),
      (await session.markingAt()).encoded,
    );
  }
  assert.deepEqual((await session.markingAt(0)).places, {});
});

test('without values an inspection has numbers only, and a shape has types and lengths', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, `Find ${SECRET}`);
  const full = await collect(session.records());
  const none = await collect(session.records(0, { values: 'none' }));
  const shape = await collect(session.records(0, { values: 'shape' }));
  assert.match(JSON.stringify(full), new RegExp(SECRET));
  assert.doesNotMatch(JSON.stringify([none, shape]), new RegExp(SECRET));
  assert.doesNotMatch(
    JSON.stringify(none),
    /"(?:value|tokens|items|writes|entries|stored|reason)"/,
  );
  const count = ({ taken, given }: InspectedRecord): unknown => [
    taken.map((one) => [one.place, one.count]),
    given.map((one) => [one.place, one.count]),
  ];
  assert.deepEqual(none.map(count), full.map(count));
  assert.deepEqual(shape.map(count), full.map(count));
  const tokens = (records: readonly InspectedRecord[]): readonly unknown[] =>
    records
      .flatMap(({ given }) => given)
      .flatMap((one) => (one.tokens ?? []).map(({ value }) => value));
  assert.deepEqual(
    tokens(shape),
    tokens(full).map((value) => toShape(JSON.parse(JSON.stringify(value)))),
  );
  for (const values of ['none', 'shape'] as const) {
    const marking = await session.markingAt(undefined, { values });
    assert.doesNotMatch(JSON.stringify(marking), new RegExp(SECRET));
    assert.ok((marking.places['conversation']?.count ?? 0) > 3);
    assert.equal(marking.encoded, undefined);
  }
  assert.deepEqual(toShape({ a: ['blue', 1, null, true] }), {
    a: ['text(4)', 'number', 'null', 'boolean'],
  });
});

test('pages of records are the same records, from every record on', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, 'one', 'two', 'three');
  const all = await collect(session.records());
  for (const limit of [1, 3, 7, 1_000]) {
    const pages: InspectedRecord[] = [];
    for (;;) {
      const page = await collect(session.records(pages.length, { limit }));
      assert.ok(page.length <= limit);
      if (page.length === 0) break;
      pages.push(...page);
    }
    assert.deepEqual(pages, all);
  }
});

test('a reader that follows gets every record, also of steps without events, until it stops', async () => {
  const runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  const stop = new AbortController();
  const followed = collect(session.records(0, { follow: true, values: 'none' }));
  const stopped = collect(
    session.records(0, { follow: true, values: 'none', signal: stop.signal }),
  );
  await say(session, 'one');
  stop.abort();
  await stopped;
  await say(session, 'two');
  const all = await collect(session.records(0, { values: 'none' }));
  await runtime.close();
  assert.deepEqual(await followed, all);
});

/** Counts the steps that are read for a replay. Those that restore the lists of a snapshot do not count. */
class CountingStore extends MemoryStore {
  stepsRead = 0;

  override async *steps(
    ...args: Parameters<MemoryStore['steps']>
  ): ReturnType<MemoryStore['steps']> {
    for await (const step of super.steps(...args)) {
      this.stepsRead++;
      yield step;
    }
  }

  override async *listSteps(
    ...args: Parameters<MemoryStore['listSteps']>
  ): ReturnType<MemoryStore['listSteps']> {
    const before = this.stepsRead;
    const steps: CommittedStep[] = [];
    for await (const step of super.listSteps(...args)) steps.push(step);
    this.stepsRead = before;
    yield* steps;
  }
}

test('an early or late marking of a long session does not need the whole journal', async () => {
  const store = new CountingStore();
  await using runtime = await openRuntime({ agents: [createLooker()], store });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 60; turn++) await say(session, `message ${turn}`);
  const last = (await session.markingAt()).record;
  const { head } = await session.status();
  assert.ok(head > 200 && last > 600, `${head} steps, ${last} records`);
  const readOnce = async (record: number): Promise<number> => {
    store.stepsRead = 0;
    await session.markingAt(record, { values: 'none' });
    return store.stepsRead;
  };
  await using cold = await openRuntime({ agents: [createLooker()], store });
  const again = await cold.session('s');
  store.stepsRead = 0;
  await again.markingAt(last - 1, { values: 'none' });
  assert.ok(store.stepsRead <= 70, `from the stored snapshot: ${store.stepsRead} steps`);
  await collect(again.records(0, { values: 'none' }));
  store.stepsRead = 0;
  await again.markingAt(400, { values: 'none' });
  assert.ok(
    store.stepsRead < 130 && store.stepsRead < head / 2,
    `from a checkpoint: ${store.stepsRead} steps`,
  );
  assert.ok((await readOnce(last - 1)) < head / 2);
});

test('the request of every model call is rebuilt as the model received it', async () => {
  const model = script();
  const looker = createLooker({
    model,
    instruction: 'Look for {found?}.',
    config: { temperature: 0.5 },
    context: { maxTokens: 100_000 },
    callbacks: {
      beforeModel: (_, { contents }) => ({ request: { contents: contents.slice(-3) } }),
    },
  });
  await using runtime = await openRuntime({ agents: [looker] });
  const session = await runtime.session('s');
  await say(session, 'one', 'two');
  const calls = (await collect(session.records(0, { values: 'none' }))).filter(
    ({ kind, transition }) => kind === 'started' && transition === 'model.call',
  );
  assert.equal(calls.length, 4);
  for (const [index, { record, step, at }] of calls.entries()) {
    const rebuilt = await session.modelRequest(record);
    assert.deepEqual(rebuilt.request, model.requests[index]);
    assert.partialDeepStrictEqual(rebuilt, {
      firing: record,
      step,
      at,
      model: 'scripted',
      transition: 'model.call',
      netChanged: false,
      mayDiffer: [
        { part: 'instruction', source: 'definition' },
        { part: 'tools', source: 'definition' },
        { part: 'config', source: 'definition' },
      ],
    });
  }
});

test('a rebuilt request says which parts a function or a changed agent may have changed', async () => {
  const store = new MemoryStore();
  const before = await openRuntime({
    agents: [createLooker({ instruction: () => 'Old.' })],
    store,
  });
  const session = await before.session('s');
  await say(session, 'one');
  await before.close();
  const trim = createLooker({
    instruction: () => 'New.',
    context: (contents) => contents,
    tools: [],
  });
  await using runtime = await openRuntime({ agents: [trim], store });
  const again = await runtime.session('s');
  const [call] = (await collect(again.records())).filter(
    ({ kind, transition }) => kind === 'started' && transition === 'model.call',
  );
  const rebuilt = await again.modelRequest(call?.record ?? assert.fail());
  assert.equal(rebuilt.request.instruction, 'New.');
  assert.deepEqual(rebuilt.mayDiffer, [
    { part: 'instruction', source: 'function' },
    { part: 'contents', source: 'function' },
  ]);
});

test('the request of a call of a fallback model is rebuilt for that model', async () => {
  const down: Model = {
    name: 'down',
    generate: async () => {
      throw new ModelError({
        model: 'down',
        kind: 'overloaded',
        message: 'Busy.',
        retryAfterMs: 90_000,
      });
    },
  };
  const model = script();
  const looker = createLooker({ model: down, fallbackModels: [model], modelAttempts: 1 });
  await using runtime = await openRuntime({ agents: [looker] });
  const session = await runtime.session('s');
  await say(session, 'one');
  const calls = (await collect(session.records())).filter(
    ({ kind, transition }) => kind === 'started' && transition === 'model.call',
  );
  const rebuilt = await Promise.all(calls.map(async ({ record }) => session.modelRequest(record)));
  assert.deepEqual(
    rebuilt.map((one) => one.model),
    ['down', 'scripted', 'scripted'],
  );
  assert.deepEqual(
    rebuilt.slice(1).map(({ request }) => request),
    model.requests,
  );
});

test('fork accepts every fork point, and no other position', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, 'one', 'two');
  const points = await collect(session.forkPoints());
  const legal = new Set(points.map(({ upTo }) => upTo));
  const { lastSeq, head } = await session.status();
  assert.partialDeepStrictEqual(points[0], { upTo: 0 });
  assert.partialDeepStrictEqual(points.at(-1), { upTo: lastSeq, step: head });
  assert.ok(legal.size < lastSeq + 1, 'some steps write several events');
  for (let upTo = 0; upTo <= lastSeq; upTo++) {
    const forked = session.fork({ id: `f${upTo}`, upTo });
    if (!legal.has(upTo)) {
      await assert.rejects(forked, { code: 'invalid_input', field: 'upTo' });
      continue;
    }
    const copied = await collect(runtime.store.steps((await forked).key, 0));
    const point = points.find((one) => one.upTo === upTo);
    assert.deepEqual(copied[(point?.step ?? 0) - 1]?.records.at(-1)?.seq ?? 0, point?.record);
  }
  assert.deepEqual(
    await collect(session.forkPoints(4)),
    points.filter(({ upTo }) => upTo > 4),
  );
});

test('the net is data: places, arcs, policies, subnets, and a layout that does not change', async () => {
  const looker = createLooker({ modelTimeoutMs: 5_000, modelAttempts: 4, toolConcurrency: 2 });
  await using runtime = await openRuntime({ agents: [looker] });
  const session = await runtime.session('s');
  await say(session, 'one');
  const net = await session.net();
  assert.deepEqual(JSON.parse(JSON.stringify(net)), net);
  assert.equal(net.hash, looker.compiled.hash);
  assert.equal(net.hash, (await session.markingAt()).netHash);
  assert.deepEqual(
    net.places.map(({ name }) => name).toSorted(),
    [...looker.compiled.places.keys()].toSorted(),
  );
  const place = (name: string): (typeof net.places)[number] =>
    net.places.find((one) => one.name === name) ?? assert.fail(name);
  assert.partialDeepStrictEqual(place('user.in'), {
    kind: 'tokens',
    environment: true,
    port: 'in',
  });
  assert.partialDeepStrictEqual(place('user.in').schema, {
    type: 'object',
    properties: { messageId: { type: 'string' } },
  });
  assert.partialDeepStrictEqual(place('turn.permit'), { initial: 1, environment: false });
  assert.equal(place('turn.permit').schema, undefined);
  assert.equal(place('conversation').kind, 'list');
  assert.equal(place('event.out').kind, 'outlet');
  assert.equal(place('tool.call').owed, true);
  const transition = (name: string): (typeof net.transitions)[number] =>
    net.transitions.find((one) => one.name === name) ?? assert.fail(name);
  assert.partialDeepStrictEqual(transition('model.call'), {
    kind: 'effect',
    timeoutMs: 5_000,
    onCrash: 'rerun',
  });
  assert.equal(transition('model.retry').afterMs, 'computed');
  assert.equal(transition('tool.run').concurrency, 2);
  assert.equal(transition('tool.expire').afterMs, 'computed');
  const arcs = transition('model.call').arcs;
  assert.ok(arcs.some((arc) => arc.kind === 'inhibitor' && arc.place === 'turn.stopping'));
  assert.deepEqual(
    arcs.filter(({ kind }) => kind === 'give').map(({ place: to }) => to),
    [
      'model.response',
      'model.failed',
      'model.rescheduled',
      'model.attempted',
      'model.attempted',
      'event.out',
    ],
  );
  assert.ok(transition('turn.interrupt').arcs.some(({ kind }) => kind === 'reset'));
  assert.ok(
    net.subnets.some(
      ({ name, transitions }) => name === 'model-step' && transitions.includes('model.call'),
    ),
  );

  const { layout } = net;
  assert.deepEqual((await session.net()).layout, layout);
  const all = [...Object.values(layout.places), ...Object.values(layout.transitions)];
  assert.equal(all.length, net.places.length + net.transitions.length);
  assert.equal(new Set(all.map(({ x, y }) => `${x} ${y}`)).size, all.length, 'no two at one spot');
  for (const { x, y } of all)
    assert.ok(x > 0 && x < layout.width && y > 0 && y < layout.height, `${x} ${y}`);
  const build = layout.transitions['turn.start'] ?? assert.fail();
  const ask = layout.transitions['model.call'] ?? assert.fail();
  assert.ok((layout.places['user.in']?.x ?? 0) < build.x && build.x < ask.x);
});

test('the layout of Graphviz has a line for every arc that is drawn, and a box for every subnet', async () => {
  const looker = createLooker();
  await using runtime = await openRuntime({ agents: [looker] });
  const session = await runtime.session('s');
  const net = await session.net({ layout: 'graphviz' });
  const { layout, transitions } = net;
  assert.equal(layout.engine, 'graphviz');
  assert.deepEqual(JSON.parse(JSON.stringify(layout)), layout);
  const nodes = new Map<string, { readonly x: number; readonly y: number }>([
    ...Object.entries(layout.places).map(([name, at]) => [`p:${name}`, at] as const),
    ...Object.entries(layout.transitions).map(([name, at]) => [`t:${name}`, at] as const),
  ]);
  for (const { name } of net.transitions) assert.ok(nodes.has(`t:${name}`), name);
  const kinds = { inhibitor: 'inhibitor', read: 'read', reset: 'reset' } as const;
  const edges = layout.edges ?? assert.fail();
  for (const { name, arcs } of transitions)
    for (const { kind, place } of arcs) {
      const drawn = edges.filter(
        ({ from, to }) => [from, to].includes(`p:${place}`) && [from, to].includes(`t:${name}`),
      );
      const expected: readonly string[] =
        kind === 'take' || kind === 'give' ? ['flow', 'both'] : [kinds[kind]];
      assert.ok(
        drawn.some((edge) => expected.includes(edge.kind)),
        `${kind} ${place} ${name}`,
      );
    }
  for (const { from, to, points } of edges) {
    assert.ok(nodes.has(from) && nodes.has(to), `${from} ${to}`);
    assert.equal(points.length % 3, 1, 'whole curves');
  }
  for (const { x, y } of nodes.values())
    assert.ok(x >= 0 && x <= layout.width && y >= 0 && y <= layout.height, `${x} ${y}`);
  const step = layout.subnets?.find(({ path }) => path.join('/') === 'model-step');
  const ask = layout.transitions['model.call'] ?? assert.fail();
  assert.ok(step !== undefined && step.x < ask.x && ask.x < step.x + step.width);
  assert.ok(step.y < ask.y && ask.y < step.y + step.height);
  assert.equal((await session.net({ layout: 'graphviz' })).layout, layout, 'drawn once');
  await assert.rejects(session.net({ layout: 'dots' as 'columns' }), { field: 'layout' });
});

test('wrong positions, options and firings are refused by name', async () => {
  await using runtime = await openRuntime({ agents: [createLooker()] });
  const session = await runtime.session('s');
  await say(session, 'one');
  const last = (await session.markingAt()).record;
  await assert.rejects(session.markingAt(last + 1), {
    code: 'invalid_input',
    field: 'record',
    message: `record: must be a record from 0 to ${last}, the last one; it is ${last + 1}.`,
  });
  await assert.rejects(session.markingAt(-1), { field: 'record' });
  await assert.rejects(session.markingAt(1.5), { field: 'record' });
  assert.throws(() => session.records(-1), { field: 'after' });
  assert.throws(() => session.records(0, { limit: 0 }), { field: 'limit' });
  // @ts-expect-error -- a program without types
  assert.throws(() => session.records(0, { values: 'everything' }), { field: 'values' });
  // @ts-expect-error -- a program without types
  assert.throws(() => session.records(0, { detail: 'full' }), {
    name: 'UnknownFieldError',
    field: 'records.detail',
  });
  assert.throws(() => session.forkPoints(-1), { field: 'after' });
  await assert.rejects(session.modelRequest(1), { field: 'firing', message: /starts no effect/ });
  const started = (await collect(session.records())).find(
    ({ transition, kind }) => transition === 'tool.run' && kind === 'started',
  );
  await assert.rejects(session.modelRequest(started?.record ?? 0), {
    field: 'firing',
    message: /calls no model/,
  });
  await runtime.delete('s');
  await assert.rejects(collect(session.records()), { code: 'session_not_found' });
  await assert.rejects(session.markingAt(1), { code: 'session_not_found' });
});
