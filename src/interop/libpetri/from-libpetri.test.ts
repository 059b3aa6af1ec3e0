import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  all,
  and,
  atLeast,
  deadline,
  delayed,
  environmentPlace,
  exactly,
  fork,
  forwardInput,
  matchKey,
  matchSpec,
  nameId,
  one,
  outPlace,
  PetriNet,
  place,
  timeout,
  tokenAt,
  Transition,
  transform,
  transformAsync,
  window,
  xor,
} from 'libpetri';
import type { TransitionContext } from 'libpetri';
import { z } from 'zod';
import { DriverHarness } from '../../../test/nets/driver-harness.ts';
import { checkInjection, compile } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { fromLibpetri, LibpetriImportError } from './index.ts';
import type { RefusedFeature } from './index.ts';

interface Message {
  readonly id: string;
  readonly text: string;
}

const inbox = environmentPlace<Message>('mail.in');
const read = place<Message>('mail.read');
const good = place<Message>('mail.good');
const bad = place<Message>('mail.bad');
const bin = place<Message>('mail.bin');

const takeMail: Transition = Transition.builder('mail.take')
  .inputs(one(inbox.place))
  .outputs(outPlace(read))
  .action(fork())
  .build();

const judge: Transition = Transition.builder('mail.judge')
  .inputs(one(read))
  .outputs(xor(outPlace(good), outPlace(bad)))
  .priority(2)
  .action(async (context: TransitionContext) => {
    const message = context.input(read);
    await Promise.resolve();
    if (message.text === 'throw') throw new Error('unreadable');
    context.output(message.text === 'spam' ? bad : good, message);
  })
  .build();

const throwing: Transition = Transition.builder('mail.throw').inputs(all(bad)).build();

function mail(...more: readonly Transition[]): PetriNet {
  return PetriNet.builder('mail')
    .transitions(takeMail, judge, throwing, ...more)
    .build();
}

async function imported(): Promise<Net> {
  return fromLibpetri(mail(), {
    environment: new Set([inbox]),
    sync: ['mail.take'],
    in: { inbox: 'mail.in' },
  });
}

test('asynchronous actions become effects, the others become pure transitions', async () => {
  const { byName, places } = compile(await imported());
  assert.deepEqual(
    [...byName].map(([name, { spec }]) => [name, spec.kind, spec.priority]),
    [
      ['mail.take', 'pure', 0],
      ['mail.judge', 'effect', 2],
      ['mail.throw', 'pure', 0],
    ],
  );
  assert.equal(places.get('mail.in')?.environment, true);
  assert.equal(places.get('mail.judge.failed')?.kind, 'tokens');
});

test('an imported net runs: outputs go to the declared places, and failures go to a separate place', async () => {
  const harness = new DriverHarness(await imported());
  for (const text of ['hello', 'spam', 'throw']) harness.inject('mail.in', { id: text, text });
  await harness.whenIdle();
  assert.deepEqual(harness.values({ name: 'mail.good' }), [{ id: 'hello', text: 'hello' }]);
  assert.deepEqual(harness.values({ name: 'mail.bad' }), []);
  assert.deepEqual(harness.values({ name: 'mail.judge.failed' }), [
    {
      transition: 'mail.judge',
      kind: 'error',
      message: 'unreadable',
      values: { 'mail.read': { id: 'throw', text: 'throw' } },
    },
  ]);
});

test('an asynchronous action declared as synchronous is a fault, and no token is lost', async () => {
  const of = await fromLibpetri(mail(), {
    environment: new Set([inbox]),
    sync: ['mail.take', 'mail.judge'],
  });
  const harness = new DriverHarness(of);
  harness.inject('mail.in', { id: '1', text: 'hello' });
  await harness.whenIdle();
  const [fault] = harness.values({ name: 'net.fault' }) as {
    transition: string;
    code: string;
    message: string;
  }[];
  assert.deepEqual([fault?.transition, fault?.code], ['mail.judge', 'output']);
  assert.match(fault?.message ?? '', /declared synchronous, but its action waits/);
});

test('a synchronous action that throws is a fault with the reason', async () => {
  const broken = Transition.builder('mail.break')
    .inputs(one(bin))
    .outputs(outPlace(good))
    .action(
      transform(() => {
        throw new Error('no paper');
      }),
    )
    .build();
  const of = await fromLibpetri(mail(broken), {
    environment: new Set([inbox]),
    sync: ['mail.break', 'mail.take'],
    initial: new Map([[bin, [tokenAt({ id: '1', text: 'a' }, 0)]]]),
  });
  const harness = new DriverHarness(of);
  harness.inject('mail.in', { id: '2', text: 'b' });
  await harness.whenIdle();
  const [fault] = harness.values({ name: 'net.fault' }) as { message: string }[];
  assert.match(fault?.message ?? '', /"mail\.break" failed: Error: no paper/);
});

test('tokens join by their names, whatever arrives between them', async () => {
  const left = environmentPlace<Message>('left.in');
  const right = environmentPlace<Message>('right.in');
  const pair = place<string>('pair.out');
  const byId = (message: Message): ReturnType<typeof nameId> => nameId(message.id);
  const joined = Transition.builder('pair.join')
    .inputs(one(left.place), exactly(2, right.place))
    .match(matchSpec(matchKey(left.place, byId), matchKey(right.place, byId)))
    .outputs(outPlace(pair))
    .action(
      transform((context) =>
        [context.input(left.place), ...context.inputs(right.place)]
          .map(({ text }) => text)
          .join(''),
      ),
    )
    .build();
  const of = await fromLibpetri(PetriNet.builder('pair').transition(joined).build(), {
    environment: new Set([left, right]),
    sync: ['pair.join'],
  });
  const harness = new DriverHarness(of);
  for (const [where, id, text] of [
    ['right.in', '1', 'b'],
    ['right.in', '2', 'x'],
    ['left.in', '1', 'a'],
    ['right.in', '1', 'c'],
  ] as const)
    harness.inject(where, { id, text });
  await harness.whenIdle();
  assert.deepEqual(harness.values({ name: 'pair.out' }), ['abc']);
  assert.deepEqual(harness.values({ name: 'right.in' }), [{ id: '2', text: 'x' }]);
});

test('an action that times out produces the timeout output of libpetri', async () => {
  const slow = Transition.builder('mail.wait')
    .inputs(one(bin))
    .outputs(xor(outPlace(good), timeout(5_000, and(forwardInput(bin, read), outPlace(bad)))))
    .action(async () => new Promise(() => {}))
    .build();
  const harness = new DriverHarness(
    await fromLibpetri(PetriNet.builder('slow').transition(slow).build(), {
      initial: new Map([[bin, [tokenAt({ id: '1', text: 'a' }, 0)]]]),
    }),
  );
  harness.driver.schedule();
  await harness.flush();
  harness.clock.advance(5_000);
  await harness.whenIdle();
  assert.deepEqual(harness.values(read), [{ id: '1', text: 'a' }]);
  assert.deepEqual(harness.values(bad), [null]);
});

test('a delayed transition waits for its delay', async () => {
  const later = Transition.builder('mail.later')
    .inputs(one(inbox.place))
    .timing(delayed(1_000))
    .outputs(outPlace(good))
    .action(fork())
    .build();
  const of = await fromLibpetri(PetriNet.builder('later').transition(later).build(), {
    environment: new Set([inbox]),
    sync: ['mail.later'],
  });
  const harness = new DriverHarness(of);
  harness.inject('mail.in', { id: '1', text: 'a' });
  await harness.flush();
  assert.deepEqual(harness.values(good), []);
  harness.clock.advance(1_000);
  await harness.flush();
  assert.deepEqual(harness.values(good), [{ id: '1', text: 'a' }]);
});

test('a place gets the schema in the options, and several tokens where the options say so', async () => {
  const twice = Transition.builder('mail.copy')
    .inputs(one(inbox.place))
    .outputs(outPlace(good))
    .action(
      async (context) =>
        void context.output(good, context.input(inbox.place), context.input(inbox.place)),
    )
    .build();
  const of = PetriNet.builder('copy').transition(twice).build();
  const options = {
    environment: new Set([inbox]),
    sync: ['mail.copy'],
    schemas: { 'mail.in': z.object({ id: z.string(), text: z.string() }) },
  };
  const harness = new DriverHarness(
    await fromLibpetri(of, { ...options, most: { 'mail.good': 2 } }),
  );
  assert.throws(() => checkInjection(harness.net, 'mail.in', { id: 1 }), {
    code: 'token_schema',
  });
  harness.inject('mail.in', { id: '1', text: 'a' });
  await harness.whenIdle();
  assert.equal(harness.values(good).length, 2);
  const strictHarness = new DriverHarness(await fromLibpetri(of, options));
  strictHarness.inject('mail.in', { id: '1', text: 'a' });
  await strictHarness.whenIdle();
  assert.equal(strictHarness.values(good).length, 0);
  const [fault] = strictHarness.values({ name: 'net.fault' }) as {
    code: string;
    message: string;
  }[];
  assert.equal(fault?.code, 'output');
  assert.match(fault?.message ?? '', /gave 2 tokens to "mail\.good"/);
});

const act = transformAsync(async () => null);
const refused: readonly (readonly [RefusedFeature, Transition, RegExp])[] = [
  [
    'guard',
    Transition.builder('t')
      .inputs(one(read, ({ id }) => id === '1'))
      .build(),
    /guard on "mail\.read"/,
  ],
  [
    'deadline',
    Transition.builder('t').inputs(one(read)).timing(deadline(10)).build(),
    /must fire by a deadline/,
  ],
  [
    'deadline',
    Transition.builder('t').inputs(one(read)).timing(window(5, 10)).build(),
    /must fire by a window/,
  ],
  [
    'double arc',
    Transition.builder('t').inputs(one(read), one(read)).build(),
    /takes from "mail\.read" twice/,
  ],
  [
    'double arc',
    Transition.builder('t').inputs(one(read)).read(read).build(),
    /takes and reads "mail\.read"/,
  ],
  [
    'double arc',
    Transition.builder('t').inputs(one(read)).reads(bin, bin).build(),
    /reads "mail\.bin" twice/,
  ],
  [
    'double arc',
    Transition.builder('t').inputs(one(read)).inhibitor(read).build(),
    /can never fire/,
  ],
  [
    'double arc',
    Transition.builder('t')
      .inputs(one(read))
      .outputs(and(outPlace(bin), outPlace(bin)))
      .action(act)
      .build(),
    /gives to "mail\.bin" by two arcs/,
  ],
  [
    'at-least',
    Transition.builder('t').inputs(atLeast(2, read)).build(),
    /at least 2 tokens of "mail\.read"/,
  ],
  [
    'clock',
    Transition.builder('t').inputs(one(read), one(bin)).timing(delayed(5)).build(),
    /needs more than one token/,
  ],
  [
    'timed effect',
    Transition.builder('t').inputs(one(read)).timing(delayed(5)).action(act).build(),
    /has a delay and an asynchronous/,
  ],
  [
    'timeout',
    Transition.builder('t')
      .inputs(one(read))
      .outputs(and(outPlace(bin), timeout(5, outPlace(bad))))
      .action(act)
      .build(),
    /timeout inside another outcome/,
  ],
];

for (const [feature, transition, message] of refused) {
  test(`an unsupported feature is rejected by name: ${feature}, ${message.source}`, async () => {
    await assert.rejects(fromLibpetri(mail(transition)), (error: unknown) => {
      assert.ok(error instanceof LibpetriImportError);
      assert.deepEqual(
        error.refusals.map((refusal) => [refusal.transition, refusal.feature]),
        [['t', feature]],
      );
      assert.match(error.message, message);
      assert.match(error.message, /transition "t"/);
      return true;
    });
  });
}

test('all unsupported features are listed in one error', async () => {
  const several = [
    Transition.builder('a')
      .inputs(one(read, () => true))
      .timing(deadline(1))
      .build(),
    Transition.builder('b').inputs(one(read), one(read)).build(),
  ];
  await assert.rejects(fromLibpetri(mail(...several), { sync: ['mail.tak'] }), (error: unknown) => {
    assert.ok(error instanceof LibpetriImportError);
    assert.deepEqual(
      error.refusals.map(({ transition, feature }) => `${transition}: ${feature}`),
      ['mail.tak: unknown name', 'a: guard', 'a: deadline', 'b: double arc'],
    );
    return true;
  });
});
