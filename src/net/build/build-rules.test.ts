import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import * as z from 'zod';
import {
  all,
  allOf,
  append,
  each,
  many,
  matching,
  oneOf,
  optional,
  put,
  replacePrefix,
  truncate,
  upTo,
} from '../language/arcs.ts';
import { compile } from './compile.ts';
import { faultPlace } from '../language/fault.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { initialToken, net } from '../language/net.ts';
import type { NetDefinition, Ports } from '../language/net.ts';
import { listPlace, mapPlace, outlet, place } from '../language/place.ts';
import type { AnyPlace } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';
import type { Effect, Transition } from '../language/transition.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a key function that the types would reject
type Untyped = any;

const a = place('a', { environment: true });
const b = place('b');
const text = place('text', z.string(), { environment: true });
const other = place('other', z.string());
const history = listPlace('history', z.string());
const state = mapPlace('state');
const out = outlet('out', z.string());

/** A pure transition whose `run` no test ever calls. */
function t(arcs: Partial<Omit<Transition, 'kind' | 'run'>>): Transition {
  const { name = 't', take = { a }, give = allOf({}), ...rest } = arcs;
  return { ...pure(name, { take, give, run: () => ({}) }), ...rest, name };
}

/** An effect whose `run` no test ever calls. */
function e(name: string, arcs: Partial<Omit<Transition, 'kind' | 'name' | 'run'>>): Effect {
  const { take = { a }, give = allOf({}), ...rest } = arcs;
  const made = effect(name, { take, give, failed: () => ({}), run: async () => ({}) });
  return { ...made, ...rest } as Effect;
}

const validNet = (...transitions: readonly Transition[]): NetDefinition<Ports, Ports> => ({
  transitions,
});

interface RuleCase {
  readonly rule: string;
  readonly invalidNets: readonly (readonly [
    definition: NetDefinition<Ports, Ports>,
    problem: RegExp,
  ])[];
  readonly validNets: readonly NetDefinition<Ports, Ports>[];
}

const ask = e('ask', {});
const owed = place('owed', { owed: true, environment: true });
const owing = e('owing', { take: { owed } });
const permit = place('permit');
const holding = e('holding', { take: { text, permit }, give: oneOf({ permit }) });
/** A transition that matches the firings of `ask` by a key. */
const keyed = (key: (firing: Untyped) => string): Transition =>
  t({ take: { x: matching(running(ask), key as never), text: matching(text, (x) => x) } });
const token = (of: AnyPlace): { from: AnyPlace } => ({ from: of });

const cases: readonly RuleCase[] = [
  {
    rule: 'transition names are unique',
    invalidNets: [[validNet(t({}), t({})), /two transitions have the name "t"/]],
    validNets: [validNet(t({}), t({ name: 'u' }))],
  },
  {
    rule: 'places of one name have one kind and one schema',
    invalidNets: [
      [
        validNet(
          t({ take: token(place('p', z.string())) }),
          t({ name: 'u', take: token(place('p', z.string())) }),
        ),
        /place "p" has two schemas/,
      ],
      [
        validNet(t({ take: token(place('p')) }), t({ name: 'u', read: token(mapPlace('p')) })),
        /place "p" is declared as a tokens place and as a map place/,
      ],
      [
        validNet(t({ take: token(place(faultPlace.name, z.string())) })),
        /"net.fault" has two schemas/,
      ],
    ],
    validNets: [
      validNet(
        t({ take: token(place('p', z.string(), { version: 2 })) }),
        t({ name: 'u', take: token(place('p', z.string(), { version: 2 })) }),
      ),
      validNet(
        t({ take: token(place('p', text.schema ?? z.string())) }),
        t({ name: 'u', take: token(place('p', text.schema ?? z.string())) }),
      ),
    ],
  },
  {
    rule: 'a place has a name, which is not that of a running place',
    invalidNets: [
      [validNet(t({ take: token(place('')) })), /a place has the name ""/],
      [validNet(t({ take: token(place('running(x)')) })), /a place has the name "running\(x\)"/],
    ],
    validNets: [validNet(t({ take: token(place('area.thing')) }))],
  },
  {
    rule: 'only tokens places have initial and injected tokens',
    invalidNets: [
      [
        { transitions: [t({})], initial: [{ place: history, value: 'x', times: 1 }] },
        /list place "history" cannot have initial tokens/,
      ],
      [
        { transitions: [t({})], initial: [initialToken(text, 'x', 0)] },
        /"text" has 0 initial tokens/,
      ],
      [
        { transitions: [t({})], initial: [{ place: text, value: 5, times: 1 }] },
        /an initial token is invalid: A token for place "text"/,
      ],
      [
        validNet(t({ read: token(listPlace('l', z.string(), { environment: true })) })),
        /"l" cannot be an environment place/,
      ],
    ],
    validNets: [
      { transitions: [t({})], initial: [initialToken(text, 'x', 2), initialToken(a, null)] },
    ],
  },
  {
    rule: 'a schema is synchronous',
    invalidNets: [
      [
        validNet(
          t({
            take: token(
              place(
                'p',
                z.string().refine(async () => true),
              ),
            ),
          }),
        ),
        /schema of place "p" is asynchronous/,
      ],
      [
        validNet(
          t({
            take: token(
              place(
                'p',
                v.pipeAsync(
                  v.string(),
                  v.checkAsync(async () => true),
                ),
              ),
            ),
          }),
        ),
        /"p" is asynchronous/,
      ],
    ],
    validNets: [validNet(t({ take: token(place('p', v.string())) }))],
  },
  {
    rule: 'a transition consumes something',
    invalidNets: [
      [validNet(t({ take: {} })), /takes no token that it needs/],
      [validNet(t({ take: { a: all(a, { min: 0 }) } })), /takes no token that it needs/],
      [
        validNet(t({ take: { a: matching(all(text, { min: 0 }), (x) => x) } })),
        /takes no token that it needs/,
      ],
    ],
    validNets: [
      validNet(t({ take: { a, texts: all(text, { min: 0 }) } })),
      validNet(t({ take: { a: all(a) } })),
    ],
  },
  {
    rule: 'there is one arc between a place and a transition',
    invalidNets: [
      [validNet(t({ take: { x: a, y: a } })), /takes from "a" twice/],
      [validNet(t({ take: { a }, read: { x: b, y: all(b) } })), /reads "b" twice/],
      [validNet(t({ take: { a }, read: { b: a } })), /takes and reads "a"/],
      [validNet(t({ take: { a }, unless: [a] })), /needs a token in "a" and needs "a" to be empty/],
      [
        validNet(t({ take: { a }, read: { b }, unless: [b] })),
        /needs a token in "b" and needs "b" to be empty/,
      ],
    ],
    validNets: [
      validNet(t({ take: { two: many(2, a) } })),
      validNet(t({ take: { a, b: all(b, { min: 0 }) }, unless: [b] })),
      validNet(t({ take: { a }, reset: [a] })),
    ],
  },
  {
    rule: 'only tokens places have take, inhibitor and reset arcs',
    invalidNets: [
      [
        validNet(t({ take: { a, history } })),
        /the list place "history", which always holds exactly one list: read it/,
      ],
      [validNet(t({ unless: [state] })), /the map place "state"/],
      [validNet(t({ reset: [history] })), /the list place "history"/],
      [validNet(t({ read: { out } })), /input arc from the outlet "out"/],
    ],
    validNets: [validNet(t({ read: { history, state } }))],
  },
  {
    rule: 'a list and a map are read whole, and keys are matched between inputs',
    invalidNets: [
      [
        validNet(t({ read: { history: many(2, history) } })),
        /reads many\(\) of the list place "history"/,
      ],
      [validNet(t({ read: { x: matching(text, (x) => x) } })), /reads "text" with matching\(\)/],
      [validNet(t({ take: { x: matching(text, (x) => x) } })), /has only one matching\(\) input/],
    ],
    validNets: [
      validNet(t({ take: { x: matching(text, (x) => x), y: matching(other, (x) => x) } })),
      validNet(t({ take: { x: matching(many(2, text), (x) => x) } })),
    ],
  },
  {
    rule: 'an output arc fits the kind of its place',
    invalidNets: [
      [
        validNet(t({ give: allOf({ history }) })),
        /outputs one token to the list place "history": use append/,
      ],
      [
        validNet(t({ give: allOf({ state }) })),
        /outputs one token to the map place "state": use put/,
      ],
      [validNet(t({ give: allOf({ x: upTo(2, history) }) })), /outputs upTo\(\) to the list place/],
      [
        validNet(t({ give: allOf({ x: running(ask) }) }), ask),
        /outputs to "running\(ask\)", which only the start of an effect fills/,
      ],
      [validNet(t({ give: allOf({ x: upTo(0, b) }) })), /outputs upTo\(0, …\)/],
      [
        validNet(t({ give: allOf({ x: each('missing', b) }) })),
        /outputs each\("missing", …\) but has no input "missing"/,
      ],
      [validNet(t({ give: oneOf({}) })), /has a oneOf\(\) without alternatives/],
      [
        validNet(t({ give: allOf({ x: truncate(history), y: replacePrefix(history) }) })),
        /cuts the list "history" twice/,
      ],
    ],
    validNets: [
      validNet(t({ give: allOf({ x: append(history), y: put(state), z: optional(b), out }) })),
      validNet(t({ give: oneOf({ x: truncate(history), y: replacePrefix(history) }) })),
      validNet(t({ give: allOf({ x: truncate(history), y: append(history) }) })),
    ],
  },
  {
    rule: 'counts, priorities and clocks are numbers that make sense',
    invalidNets: [
      [validNet(t({ take: { x: many(0, a) } })), /needs many\(0, …\)/],
      [validNet(t({ read: { x: many(1.5, b) } })), /needs many\(1.5, …\)/],
      [validNet(t({ priority: Number.NaN })), /has priority NaN/],
      [validNet(t({ after: -1 })), /fires after -1 ms/],
      [
        validNet(t({ after: 5, take: { x: all(a, { min: 0 }), b } })),
        /its first input is not a token that it needs/,
      ],
      [
        validNet(t({ after: 5, take: { x: running(ask) } }), ask),
        /its first input is not a token that it needs/,
      ],
      [
        validNet(t({ after: 5, take: { x: faultPlace } })),
        /its first input is "net.fault", whose tokens have no clock/,
      ],
    ],
    validNets: [validNet(t({ take: { x: many(2, a) }, after: 5, priority: -1 }))],
  },
  {
    rule: 'running(t) is used only in a net that has the effect t',
    invalidNets: [
      [validNet(t({ unless: [running(ask)] })), /uses running\("ask"\), but the net has no effect/],
      [
        validNet(e('x', { take: { a, x: running(ask) } }), ask),
        /is an effect that takes or reads running\(ask\)/,
      ],
    ],
    validNets: [
      validNet(t({ unless: [running(ask)] }), ask),
      validNet(t({ take: { x: running(ask) } }), ask),
    ],
  },
  {
    rule: 'a key does not change while its token exists',
    invalidNets: [
      [
        validNet(
          keyed(({ attempt }) => String(attempt)),
          ask,
        ),
        /by the attempt of a firing/,
      ],
      [
        validNet(
          keyed(({ inputs, attempt }) => `${inputs.a.id.slice(1)}/${attempt}`),
          ask,
        ),
        /use its firingId, startedAt or inputs/,
      ],
    ],
    validNets: [
      validNet(
        keyed(({ firingId, startedAt }) => `${firingId} ${startedAt}`),
        ask,
      ),
      validNet(
        keyed(({ inputs }) => inputs.a.id),
        ask,
      ),
      validNet(
        keyed((firing) => JSON.stringify(firing)),
        ask,
      ),
    ],
  },
  {
    rule: 'tokens that are owed an answer are taken, never reset',
    invalidNets: [
      [validNet(t({ reset: [owed] })), /resets "owed", whose tokens are owed an answer/],
      [
        validNet(t({ reset: [running(owing)] }), owing),
        /resets "running\(owing\)", whose tokens are owed/,
      ],
      [
        validNet(t({ reset: [running(e('hold', {}))] }), e('hold', { take: { owed } })),
        /whose firings hold tokens of "owed" that are owed an answer/,
      ],
      [
        validNet(t({ reset: [running(holding)] }), holding),
        /hold the permit "permit" and would return it/,
      ],
    ],
    validNets: [
      validNet(t({ reset: [b, running(ask)] }), ask),
      validNet(t({ take: { x: all(running(owing)) }, give: allOf({ y: each('x', owed) }) }), owing),
    ],
  },
  {
    rule: 'an effect declares its failure, and its attempts end',
    invalidNets: [
      [
        validNet({ ...e('x', {}), failed: undefined } as unknown as Transition),
        /is an effect without `failed`/,
      ],
      [validNet(e('x', { timeoutMs: 0 })), /has a timeout of 0 ms/],
      [validNet(e('x', { timeoutMs: Number.POSITIVE_INFINITY })), /has a timeout of Infinity ms/],
      [validNet(e('x', { concurrency: 0 })), /has concurrency 0/],
      [validNet(e('x', { retry: { attempts: 0, backoff: '1s..2s' } })), /has 0 retry attempts/],
      [
        validNet(e('x', { retry: { attempts: 2, backoff: '1..2s' as '1s..2s' } })),
        /has the backoff "1..2s"/,
      ],
      [validNet({ ...e('x', {}), after: 5 }), /is an effect with `after`/],
    ],
    validNets: [
      validNet(e('x', { timeoutMs: 5, concurrency: 1, retry: { attempts: 2, backoff: '1s..2m' } })),
    ],
  },
  {
    rule: 'two effects exclude each other by a permit, not by their outputs',
    invalidNets: [
      [
        validNet(
          e('x', { take: { a }, unless: [b], give: oneOf({ b }) }),
          e('y', { take: { text }, unless: [b], give: oneOf({ b }) }),
        ),
        /effects "x" and "y" exclude each other only by the inhibitor on "b"/,
      ],
      [
        validNet(
          e('x', { take: { a }, unless: [b], give: oneOf({ permit }) }),
          e('y', { take: { text }, unless: [permit], give: oneOf({ b }) }),
        ),
        /effects "x" and "y" exclude each other only by the inhibitor on "b"/,
      ],
      [
        validNet(e('x', { take: { a }, unless: [b], give: oneOf({ b }) }), t({ take: { a: b } })),
        /effects "x" and "x"/,
      ],
      [
        {
          transitions: [
            e('x', { take: { text, permit }, unless: [b], give: oneOf({ b }) }),
            e('y', { take: { a, permit }, unless: [b], give: oneOf({ b }) }),
          ],
          initial: [initialToken(permit, null, 3)],
        },
        /exclude each other only/,
      ],
    ],
    validNets: [
      {
        transitions: [
          e('x', { take: { text, permit }, unless: [b], give: oneOf({ b }) }),
          e('y', { take: { a, permit }, unless: [b], give: oneOf({ b }) }),
        ],
        initial: [initialToken(permit, null)],
      },
      validNet(
        t({ take: { a }, unless: [b], give: allOf({ b }) }),
        t({ name: 'u', take: { text }, unless: [b], give: allOf({ b }) }),
      ),
      validNet(e('x', { take: { a }, unless: [b], give: oneOf({ b }), concurrency: 1 })),
      validNet(e('x', { take: { a }, unless: [b] }), e('y', { take: { text }, unless: [b] })),
    ],
  },
];

for (const { rule, invalidNets, validNets } of cases) {
  test(`${rule}: the build rejects a net that breaks it, and names the part`, () => {
    for (const [definition, problem] of invalidNets) {
      assert.throws(
        () => compile(net('broken', definition)),
        (error) =>
          error instanceof NetBuildError && error.problems.some((said) => problem.test(said)),
        String(problem),
      );
    }
    for (const definition of validNets) compile(net('fine', definition));
  });
}

test('a net with several problems reports all of them at once', () => {
  const broken = net('broken', validNet(t({ take: {} }), t({ take: { x: a, y: a } })));
  assert.throws(
    () => compile(broken),
    (error) =>
      error instanceof NetBuildError && error.problems.length === 3 && error.code === 'net_build',
  );
});

test('a place without a producer, a transition that can never fire, an unused port and a schema that accepts any value cause warnings', () => {
  const lonely = place('lonely', z.string());
  const bag = place('bag', z.record(z.string(), z.unknown()), { environment: true });
  const warned = net('warned', {
    in: { port: place('port') },
    transitions: [
      t({ take: { lonely }, give: allOf({ b }) }),
      t({ name: 'after', take: { b } }),
      t({ name: 'reader', take: { a }, read: { lonely } }),
      t({ name: 'bagger', take: { bag } }),
    ],
  });
  assert.deepEqual(compile(warned).warnings, [
    'no transition produces tokens for place "lonely"',
    'transition "t" can never fire',
    'transition "after" can never fire',
    'transition "reader" can never fire',
    'no transition uses port "port"',
    'the schema of place "bag" accepts any value: use a schema for one kind of token',
  ]);
});

test('places with the same name are merged into one place', () => {
  const inside = place('mail', z.string(), { version: 1 });
  const outside = place('mail', inside.schema ?? z.string(), { environment: true, owed: true });
  const built = compile(
    net('mail', validNet(t({ take: token(inside) }), t({ name: 'u', take: token(outside) }))),
  );
  const { version, environment, owed: isOwed } = built.places.get('mail') ?? inside;
  assert.deepEqual([version, environment, isOwed], [1, true, true]);
});

test('the hash covers the structure: an arc changes it, behavior does not', () => {
  const hash = (arcs: Parameters<typeof t>[0]): string => compile(net('n', validNet(t(arcs)))).hash;
  const plain = hash({ give: oneOf({ b }) });
  assert.equal(hash({ give: oneOf({ b }), priority: 3 }), plain);
  assert.equal(compile(net('renamed', validNet(t({ give: oneOf({ b }) })))).hash, plain);
  const changed = [
    hash({ give: oneOf({ b: optional(b) }) }),
    hash({ give: oneOf({ b }), take: { a: many(2, a) } }),
    hash({ give: oneOf({ b }), unless: [other] }),
    hash({ give: oneOf({ b }), reset: [other] }),
    hash({ give: oneOf({ b }), read: { other } }),
    hash({ give: oneOf({ b }), after: 10 }),
    hash({ give: oneOf({ b }), name: 'other' }),
    hash({ give: oneOf({ b }), take: { a: place('a', { version: 2 }) } }),
  ];
  assert.equal(new Set([plain, ...changed]).size, changed.length + 1);
});
