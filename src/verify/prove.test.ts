import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  each,
  matching,
  oneOf,
  upTo,
  compile,
  type CompiledNet,
  initialToken,
  net,
  outlet,
  place,
  effect,
  pure,
  running,
  type Transition,
} from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import {
  atMost,
  atMostOnce,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  mutualExclusion,
  neverFiresAfter,
  everyNodeReachable,
  noFireAfterEndInvocation,
  noToolAfterInterrupt,
  placeBound,
  unreachable,
} from './properties/create-property.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import { formatReport, isProved } from './report.ts';
import type { PropertyResult, Verdict } from './report.ts';
import type { Solver } from './smt/solver.ts';
import { InvalidPropertyError, UnknownNameError } from './properties/verify-errors.ts';

const request = place('request', { environment: true });
const permit = place('permit');
const reply = place('reply');
const stop = place('stop', { environment: true });

const serveTransition = (more = {}): Transition =>
  effect('serve', {
    take: { request, permit },
    give: allOf({ reply, permit }),
    failed: () => ({ reply: null, permit: null }),
    run: async () => ({ reply: null, permit: null }),
    ...more,
  });

const server = compile(
  net('server', { initial: [initialToken(permit, null)], transitions: [serveTransition()] }),
);

async function decide(
  of: CompiledNet,
  property: Property,
  bounds: Bounds = { faults: 0 },
): Promise<PropertyResult> {
  const { results } = await prove(of, { properties: [property], bounds });
  const [result] = results;
  assert.ok(result !== undefined);
  return result;
}

async function proveVerdict(
  of: CompiledNet,
  property: Property,
  bounds?: Bounds,
): Promise<Verdict> {
  return (await decide(of, property, bounds)).verdict;
}

test('an effect holds its permit while it runs, whatever its outcome', async () => {
  const bounds = { environment: { request: 3 }, faults: 0 };
  const report = await prove(server, {
    properties: [
      placeBound(['permit', 'running(serve)'], 1),
      mutualExclusion('permit', 'running(serve)'),
      deadlockFree([{ marked: ['permit'], allowed: ['reply'] }]),
      eventuallyAnswered('request', 'reply'),
      placeBound('reply', 3),
    ],
    bounds,
  });
  assert.ok(isProved(report), formatReport(report));
  assert.equal(await proveVerdict(server, placeBound('reply', 2), bounds), 'refuted');
});

test('a fault that no transition takes loses the permit, and the trace shows it', async () => {
  const resting = deadlockFree([{ marked: ['permit'], allowed: ['reply'] }]);
  const { verdict, trace } = await decide(server, resting, {});
  assert.equal(verdict, 'refuted');
  assert.deepEqual(trace?.steps.at(-1), {
    kind: 'faulted',
    transition: 'serve',
    gives: { 'net.fault': 1 },
  });
});

test('a firing that priorities exclude in the executor is not part of a counterexample', async () => {
  const withPriority = (priority: number): CompiledNet =>
    compile(
      net('priorities', {
        transitions: [
          pure('drop', {
            take: { request },
            priority,
            give: oneOf({ stop }),
            run: () => ({ stop: null }),
          }),
          pure('use', { take: { request }, give: oneOf({ reply }), run: () => ({ reply: null }) }),
        ],
      }),
    );
  const property = unreachable('reply');
  assert.equal(await proveVerdict(withPriority(1), property), 'proved');
  assert.equal(await proveVerdict(withPriority(-1), property), 'refuted');
});

test('among equal priorities the transition with the oldest token fires first, and the other order is not part of a counterexample', async () => {
  const first = place('first');
  const second = place('second');
  const take = (name: string, from: typeof first, to: typeof reply): Transition =>
    pure(name, { take: { from, permit }, give: allOf({ to }), run: () => ({ to: null }) });
  const of = compile(
    net('ages', {
      initial: [initialToken(first, null), initialToken(second, null), initialToken(permit, null)],
      transitions: [take('late', second, stop), take('early', first, reply)],
    }),
  );
  const { verdict, by } = await decide(of, unreachable('stop'), {
    faults: 0,
    environment: { stop: 0 },
  });
  assert.equal(verdict, 'proved');
  assert.equal(by, 'search in the order of ages');
});

test('a timed transition can fire at any time, but only when nothing else can', async () => {
  const timer = (priority: number): CompiledNet =>
    compile(
      net('timer', {
        transitions: [
          pure('ring', {
            take: { request },
            after: 10,
            priority: 9,
            give: oneOf({ stop }),
            run: () => ({ stop: null }),
          }),
          pure('use', {
            take: { request },
            unless: [reply],
            priority,
            give: oneOf({ reply }),
            run: () => ({ reply: null }),
          }),
        ],
      }),
    );
  const alone = { faults: 0, environment: { request: 1, stop: 0 } };
  assert.equal(await proveVerdict(timer(0), unreachable('stop'), alone), 'proved');
  const two = { faults: 0, environment: { request: 2, stop: 0 } };
  assert.equal(await proveVerdict(timer(0), unreachable('stop'), two), 'refuted');
});

test('a token whose timer may never expire can wait forever', async () => {
  const timer = (after: number | (() => number)): CompiledNet =>
    compile(
      net('clock', {
        transitions: [
          pure('ring', {
            take: { request },
            after,
            give: oneOf({ reply }),
            run: () => ({ reply: null }),
          }),
        ],
      }),
    );
  assert.equal(await proveVerdict(timer(10), deadlockFree(['reply'])), 'proved');
  assert.equal(
    await proveVerdict(
      timer(() => 10),
      deadlockFree(['reply']),
    ),
    'refuted',
  );
});

test('while an owner closes, pure transitions fire and no effect starts', async () => {
  const of = compile(
    net('closing', {
      initial: [initialToken(permit, null)],
      transitions: [
        serveTransition({ priority: 1 }),
        pure('refuse', {
          take: { request, permit },
          give: allOf({ stop, permit }),
          run: () => ({ stop: null, permit: null }),
        }),
      ],
    }),
  );
  const property = unreachable('stop');
  const bounds = { faults: 0, environment: { request: 1, stop: 0 } };
  assert.equal(await proveVerdict(of, property, { ...bounds, shutdowns: false }), 'proved');
  const { verdict, trace } = await decide(of, property, bounds);
  assert.equal(verdict, 'refuted');
  assert.ok(trace?.steps.some(({ kind }) => kind === 'draining'));
});

test('a firing keeps the number of tokens it took, and produces one output for each', async () => {
  const run = effect('run', {
    take: { requests: all(request) },
    give: oneOf({ replies: each('requests', reply) }),
    failed: (_, { requests }) => ({ replies: requests }),
    run: async ({ requests }) => ({ replies: requests }),
  });
  const of = compile(net('batch', { transitions: [run] }));
  const bounds = { faults: 0, environment: { request: 3 } };
  assert.equal(await proveVerdict(of, placeBound('reply', 3), bounds), 'proved');
  assert.equal(await proveVerdict(of, placeBound('reply', 2), bounds), 'refuted');
  assert.equal(await proveVerdict(of, eventuallyAnswered('run', 'reply'), bounds), 'proved');
});

test('a firing in flight that is taken produces no output later', async () => {
  const ask = serveTransition();
  const cancel = pure('cancel', {
    take: { stop, flying: all(running(ask as ReturnType<typeof effect>), { min: 0 }) },
    give: allOf({ permits: each('flying', permit) }),
    run: ({ flying: inFlight }) => ({ permits: inFlight.map(() => null) }),
  });
  const of = compile(
    net('cancel', { initial: [initialToken(permit, null)], transitions: [ask, cancel] }),
  );
  const bounds = { faults: 0, environment: { request: 2, stop: 1 } };
  assert.equal(
    await proveVerdict(of, placeBound(['permit', 'running(serve)'], 1), bounds),
    'proved',
  );
});

test('an attempt that fails waits, holds its tokens, and is retried', async () => {
  const of = compile(
    net('retry', {
      initial: [initialToken(permit, null)],
      transitions: [serveTransition({ retry: { attempts: 3, backoff: '1s..2s' } })],
    }),
  );
  const {
    verdict,
    trace,
    over: assumptions,
  } = await decide(of, unreachable({ 'running(serve)': 1 }));
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.steps.at(-1)?.kind, 'started');
  assert.ok(assumptions.includes('<= 2 attempts'));
  assert.equal(await proveVerdict(of, placeBound(['permit', 'running(serve)'], 1)), 'proved');
});

test('tokens join by key: a result never joins the request of another key', async () => {
  const Keyed = z.object({ key: z.string() });
  const asked = place('asked', Keyed, { environment: true });
  const got = place('got', Keyed, { environment: true });
  const keyed = (by: 'key' | 'order'): CompiledNet =>
    compile(
      net('keyed', {
        transitions: [
          pure('join', {
            take:
              by === 'key'
                ? { asked: matching(asked, ({ key }) => key), got: matching(got, ({ key }) => key) }
                : { asked, got },
            give: oneOf({ reply }),
            run: () => ({ reply: null }),
          }),
        ],
      }),
    );
  // One token in each place at rest, not joined: possible only because the keys differ.
  const property = unreachable({ asked: 1, got: 1 }, ['reply']);
  const rest = deadlockFree([{ marked: [], allowed: ['reply', 'asked'] }]);
  const bounds = { faults: 0, environment: { asked: 1, got: 1 } };
  assert.equal(await proveVerdict(keyed('key'), rest, bounds), 'refuted');
  assert.equal(await proveVerdict(keyed('key'), property, bounds), 'refuted');
  const bound = { faults: 0, environment: { asked: 2, got: 1 } };
  assert.equal(await proveVerdict(keyed('order'), rest, bound), 'refuted');
  assert.equal(await proveVerdict(keyed('key'), placeBound('reply', 1), bound), 'proved');
});

test('with `per`, the count restarts at each taken token', async () => {
  const bounds = { faults: 0, environment: { request: 2 } };
  assert.equal(
    await proveVerdict(server, atMostOnce('serve', { per: 'request' }), bounds),
    'proved',
  );
  assert.equal(await proveVerdict(server, atMostOnce('serve'), bounds), 'refuted');
  assert.equal(await proveVerdict(server, atMost(['serve'], 2), bounds), 'proved');
});

test('tokens that leave through an outlet are counted if a property refers to them', async () => {
  const log = outlet('log', z.null());
  const of = compile(
    net('events', {
      transitions: [
        pure('say', {
          take: { request },
          give: allOf({ lines: upTo(2, log) }),
          run: () => ({ lines: [] }),
        }),
      ],
    }),
  );
  const bounds = { faults: 0, environment: { request: 2 } };
  assert.equal(
    await proveVerdict(of, eventOutBounded('log', 2, { per: 'request' }), bounds),
    'proved',
  );
  assert.equal(
    await proveVerdict(of, eventOutBounded('log', 1, { per: 'request' }), bounds),
    'refuted',
  );
  assert.equal(await proveVerdict(of, eventOutBounded('log', 3), bounds), 'refuted');
});

test('no effect starts after the end signal when the signal inhibits every effect', async () => {
  const of = (unless: readonly (typeof stop)[]): CompiledNet =>
    compile(
      net('end', {
        initial: [initialToken(permit, null)],
        transitions: [serveTransition({ unless })],
      }),
    );
  const property = noFireAfterEndInvocation(['serve'], 'stop');
  assert.equal(await proveVerdict(of([stop]), property), 'proved');
  assert.equal(await proveVerdict(server, neverFiresAfter('serve', 'reply')), 'proved');
  const bounds = { faults: 0, environment: { request: 2 } };
  assert.equal(await proveVerdict(server, neverFiresAfter('serve', 'reply'), bounds), 'refuted');
  assert.equal(
    await proveVerdict(server, neverFiresAfter('serve', 'reply', { until: 'request' }), bounds),
    'refuted',
  );
});

test('the event that forbids a transition may be a transition', async () => {
  const twice = { faults: 0, environment: { request: 2 } };
  const after = neverFiresAfter('serve', 'serve');
  assert.equal(await proveVerdict(server, after, { faults: 0 }), 'proved');
  assert.equal(await proveVerdict(server, after, twice), 'refuted');
  const untilDone = noToolAfterInterrupt('serve', 'serve', { until: 'permit' });
  assert.equal(await proveVerdict(server, untilDone, twice), 'proved');
  assert.equal(
    await proveVerdict(server, everyNodeReachable('serve'), { environment: { request: 0 } }),
    'refuted',
  );
});

test('a request that stays open in a cycle is refuted with that cycle', async () => {
  const again = place('again');
  const of = compile(
    net('circle', {
      transitions: [
        pure('ask', { take: { request }, give: oneOf({ again }), run: () => ({ again: null }) }),
        pure('think', {
          take: { again },
          give: oneOf({ again, reply }),
          run: () => ({ reply: null }),
        }),
      ],
    }),
  );
  const { verdict, trace } = await decide(of, eventuallyAnswered('request', 'reply'));
  assert.equal(verdict, 'refuted');
  assert.equal(trace?.circleFrom, 2);
  assert.deepEqual(trace?.steps.slice(2), [
    { kind: 'fired', transition: 'think', alternative: 'again', gives: { again: 1 } },
  ]);
});

test('the result for an unbounded net is unknown, with the reason', async () => {
  const of = compile(
    net('growing', {
      initial: [initialToken(permit, null)],
      transitions: [
        pure('grow', {
          take: { permit },
          give: allOf({ permit, reply }),
          run: () => ({ permit: null, reply: null }),
        }),
      ],
    }),
  );
  const { results } = await prove(of, {
    properties: [unreachable('net.fault.unhandled')],
    bounds: { faults: 0 },
    route: 'search',
    reductions: { slicing: false },
  });
  assert.equal(results[0]?.verdict, 'unknown');
  assert.match(results[0].reason ?? '', /more than 500 tokens in one marking/);
});

test('the result for too many possible keys is unknown, with the reason, and memory stays bounded', async () => {
  const batch = place('batch');
  const answer = place('answer', z.object({ id: z.string() }));
  const asked = place('asked', z.object({ id: z.string() }));
  const spread = pure('spread', {
    take: { batch: all(batch) },
    give: allOf({ answers: each('batch', answer) }),
    run: ({ batch: tokens }) => ({ answers: tokens.map(() => ({ id: 'a' })) }),
  });
  const join = pure('join', {
    take: { asked: matching(asked, ({ id }) => id), answer: matching(answer, ({ id }) => id) },
    give: allOf({}),
    run: () => ({}),
  });
  const wide = compile(
    net('wide', {
      in: { asked },
      initial: [initialToken(batch, null, 40)],
      transitions: [spread, join],
    }),
  );
  const { results } = await prove(wide, {
    properties: [placeBound('answer', 100)],
    bounds: { faults: 0 },
    route: 'search',
    reductions: { slicing: false },
  });
  assert.deepEqual(
    results.map(({ verdict, reason }) => [verdict, reason]),
    [['unknown', 'more than 50000 successors of one state']],
  );
});

test('a solver can prove a property that search cannot finish, for any number of tokens', async () => {
  const { results } = await prove(server, {
    properties: [placeBound(['permit', 'running(serve)'], 1)],
    bounds: { faults: 0, states: 2 },
  });
  const [result] = results;
  assert.equal(result?.verdict, 'proved');
  assert.match(result.by, /z3/);
  assert.ok(result.over.includes('any number in request'));
});

test('a property that holds within the bounds can be checked beyond them', async () => {
  const queries: string[] = [];
  const solver: Solver = {
    name: 'recorded',
    ask: async (text) => {
      queries.push(text);
      return { answer: 'unsat', by: 'recorded' };
    },
  };
  const property = placeBound('reply', 1);
  const { results } = await prove(server, {
    properties: [property],
    bounds: { faults: 0 },
    beyondBounds: true,
    solver,
  });
  assert.equal(queries.length, 1);
  // Beyond the bounds it does not hold; within them it does.
  assert.equal(results[0]?.verdict, 'proved');
  assert.deepEqual(results[0].over, ['<= 1 in request', '<= 0 faults']);
});

test('when no method decides, the report has the reason of each method', async () => {
  const solver: Solver = {
    name: 'gone',
    ask: async () => ({ answer: 'unknown', by: 'gone', reason: 'killed by SIGKILL' }),
  };
  const report = await prove(server, {
    properties: [placeBound('permit', 1)],
    bounds: { faults: 0, states: 2 },
    solver,
  });
  assert.equal(report.results[0]?.reason, 'more than 2 states; gone: killed by SIGKILL');
  assert.match(
    formatReport(report),
    /\? at most 1 in permit: unknown[^]*because more than 2 states/,
  );
});

test('a decided property is read from the cache', async () => {
  const cache = new Map<string, PropertyResult>();
  const properties = [placeBound('permit', 1), placeBound('reply', 0)];
  const first = await prove(server, { properties, bounds: { faults: 0 }, cache });
  assert.equal(cache.size, 2);
  const marked = new Map([...cache].map(([key, result]) => [key, { ...result, by: 'the cache' }]));
  const second = await prove(server, { properties, bounds: { faults: 0 }, cache: marked });
  assert.deepEqual(
    second.results.map(({ by }) => by),
    ['the cache', 'the cache'],
  );
  const other = await prove(server, { properties, bounds: { faults: 1 }, cache: marked });
  assert.ok(other.results.every(({ by }) => by.startsWith('search')));
  assert.deepEqual(
    first.results.map(({ verdict }) => verdict),
    ['proved', 'refuted'],
  );
});

test('a cache that stores JSON gives each new property its result', async () => {
  const texts = new Map<string, string>();
  const results: PropertyResult[] = [];
  const cache = {
    get: (key: string): PropertyResult | undefined => {
      const text = texts.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    set: (key: string, result: PropertyResult) => texts.set(key, JSON.stringify(result)),
  };
  for (let run = 0; run < 2; run++) {
    const properties = [placeBound('permit', 1), placeBound('reply', 0)];
    const onResult = (result: PropertyResult): unknown => results.push(result);
    const report = await prove(server, { properties, bounds: { faults: 0 }, cache, onResult });
    assert.deepEqual(
      report.results.map(({ verdict }) => verdict),
      ['proved', 'refuted'],
    );
    assert.ok(report.results.every(({ property }, index) => property === properties[index]));
    assert.equal(isProved(report), false);
  }
  assert.equal(results.length, 4);
  assert.equal(isProved({ results: [] }), false);
});

test('the options that decide a verdict are part of the cache key', async () => {
  const cache = new Map<string, PropertyResult>();
  const properties = [placeBound('reply', 0)];
  const components = { shared: [], ports: [], children: [] };
  for (const options of [
    {},
    { beyondBounds: true },
    { route: 'search' } as const,
    { reductions: { slicing: true } },
    { components },
  ])
    await prove(server, { properties, bounds: { faults: 0 }, cache, ...options });
  assert.equal(cache.size, 5);
});

test('a priority is part of the cache key', async () => {
  const cache = new Map<string, PropertyResult>();
  for (const priority of [0, 1]) {
    const of = compile(
      net('server', {
        initial: [initialToken(permit, null)],
        transitions: [serveTransition({ priority })],
      }),
    );
    await prove(of, { properties: [placeBound('permit', 1)], bounds: { faults: 0 }, cache });
  }
  assert.equal(cache.size, 2);
});

test('a misspelled name is an error, both in a property and in a bound', async () => {
  const wrong: readonly Property[] = [
    placeBound('permitt', 1),
    mutualExclusion('permit', 'running(serv)'),
    atMostOnce('serve', { per: 'requests' }),
    neverFiresAfter('serv', 'reply'),
    neverFiresAfter('serve', 'reply', { until: 'never' }),
    eventuallyAnswered('request', 'replied'),
    deadlockFree(['replies']),
    unreachable({ permit: 1 }, ['rest']),
  ];
  for (const property of wrong)
    await assert.rejects(prove(server, { properties: [property] }), UnknownNameError);
  const properties = [placeBound('permit', 1)];
  await assert.rejects(
    prove(server, { properties, bounds: { environment: { requests: 1 } } }),
    UnknownNameError,
  );
  await assert.rejects(
    prove(server, { properties, bounds: { upTo: { replies: 1 } } }),
    UnknownNameError,
  );
});

test('an invalid bound or property is an error', async () => {
  assert.throws(() => placeBound('permit', -1), InvalidPropertyError);
  assert.throws(() => placeBound([], 1), InvalidPropertyError);
  assert.throws(() => mutualExclusion('permit'), InvalidPropertyError);
  const properties = [placeBound('permit', 1)];
  await assert.rejects(prove(server, { properties, bounds: { faults: -1 } }), InvalidPropertyError);
  await assert.rejects(
    prove(server, { properties, bounds: { attempts: 0 } }),
    InvalidPropertyError,
  );
});

test('a report shows the verdicts, the bounds, the methods and the times', async () => {
  const report = await prove(server, {
    properties: [placeBound('permit', 1), placeBound('reply', 0)],
    bounds: { faults: 0 },
  });
  const text = formatReport(report).replaceAll(/\d+ ms|\d+\.\d s/g, 'N ms');
  assert.equal(
    text.replace(/\([0-9a-f]{16}\)/, '(HASH)'),
    `server (HASH): 6 places and 1 transitions, expanded
for <= 1 in request, <= 0 faults

✔ at most 1 in permit: proved (search, 8 states, N ms)
✖ at most 0 in reply: refuted (search, 8 states, N ms)
    1. from outside → request
    2. started serve
    3. ended serve → reply, permit
    ends with: reply, permit

                 0 1 2 3
  permit         ● ● · ●
  request        · ● · ·
  running(serve) · · ● ·
  reply          · · · ●

1 proved, 1 refuted in N ms
Proved means: for every order of events, every declared outcome and every failure, if:
- Tokens from outside, outputs, attempts and faults stay within the bounds.
- Every effect in flight ends, fails, times out or is retried.
- Values are left out: a transition may choose each declared outcome. A key function depends on its token only.
- Times are left out: a timer may expire at any time after its token arrived.
- The items of lists and maps are ignored.
- The session is not upgraded to another net.`,
  );
});
