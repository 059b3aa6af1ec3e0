import assert from 'node:assert/strict';
import { InvalidInputError, type Usage } from '../../core/index.ts';
import type { SessionRow, StepUsage, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import { commitOk, commitOne, createSession, getExisting, nextStep } from './sample-steps.ts';

const tokens = (inputTokens: number, more: Partial<Usage> = {}): Usage => ({
  inputTokens,
  outputTokens: 1,
  totalTokens: inputTokens + 1,
  ...more,
});

const used = (day: string, model: string, count: number, more: Partial<Usage> = {}): StepUsage => ({
  day,
  model,
  calls: 1,
  tokens: tokens(count, more),
});

async function commitUsage(
  store: Store,
  row: SessionRow,
  ...usage: readonly StepUsage[]
): Promise<SessionRow> {
  await commitOk(store, [nextStep(row, undefined, { records: [], events: [], usage })]);
  return getExisting(store, row.key);
}

export const usageCases: readonly StoreContractCase[] = [
  storeContractCase('usage is summed by agent, user, day and model', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const ada = await createSession(store, 'one', 'a');
    const bob = await createSession(store, 'one', 'b', { userId: 'bob', agent: 'clerk' });
    assert.deepEqual(await store.usage({ appName: 'app', by: [] }), []);
    const again = await commitUsage(
      store,
      ada,
      used('2026-01-01', 'small', 10),
      used('2026-01-02', 'large', 100, { thinkingTokens: 5 }),
    );
    await commitUsage(store, again, used('2026-01-01', 'small', 20, { cacheReadTokens: 0 }));
    await commitUsage(store, bob, used('2026-01-02', 'large', 1000));
    const read = async (by: Parameters<Store['usage']>[0]['by'], more = {}) =>
      store.usage({ appName: 'app', by, ...more });
    assert.deepEqual(await read([]), [
      {
        calls: 4,
        tokens: {
          inputTokens: 1130,
          outputTokens: 4,
          totalTokens: 1134,
          thinkingTokens: 5,
          cacheReadTokens: 0,
        },
      },
    ]);
    assert.deepEqual(await read(['agent']), [
      {
        agent: 'assistant',
        calls: 3,
        tokens: {
          inputTokens: 130,
          outputTokens: 3,
          totalTokens: 133,
          thinkingTokens: 5,
          cacheReadTokens: 0,
        },
      },
      { agent: 'clerk', calls: 1, tokens: tokens(1000) },
    ]);
    assert.deepEqual(
      (await read(['day', 'user'])).map(({ day, user, calls }) => [day, user, calls]),
      [
        ['2026-01-01', 'ada', 2],
        ['2026-01-02', 'ada', 1],
        ['2026-01-02', 'bob', 1],
      ],
    );
    assert.deepEqual(
      (await read(['model'])).map(({ model, tokens: { inputTokens } }) => [model, inputTokens]),
      [
        ['large', 1100],
        ['small', 30],
      ],
    );
    const sum = async (more: object) => (await read([], more))[0]?.tokens.inputTokens;
    assert.equal(await sum({ from: '2026-01-02' }), 1100);
    assert.equal(await sum({ to: '2026-01-01' }), 30);
    assert.equal(await sum({ from: '2026-01-02', to: '2026-01-02', userId: 'ada' }), 100);
    // A short period of one user, a long one, and one that has ended before it begins.
    const ofAda = async (from: string, to: string) => sum({ from, to, userId: 'ada' });
    assert.equal(await ofAda('2025-12-31', '2026-01-31'), 130);
    assert.equal(await ofAda('2026-01-01', '2026-01-01'), 30);
    assert.equal(await ofAda('2025-01-01', '2026-12-31'), 130);
    assert.equal(await ofAda('2026-01-02', '2026-01-01'), undefined);
    assert.equal(await sum({ agent: 'clerk' }), 1000);
    assert.deepEqual(await store.usage({ appName: 'other', by: ['day'] }), []);
    // Usage stays when its session is deleted.
    await store.delete(bob.key);
    assert.equal(await sum({ agent: 'clerk' }), 1000);
  }),

  storeContractCase(
    'the usage of a step counts once, and only if the step is committed',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const row = await createSession(store, 'one');
      const usage = [used('2026-01-01', 'm', 10)];
      const step = nextStep(row, undefined, { records: [], events: [], usage });
      assert.deepEqual(await commitOne(store, { ...step, epoch: 9 }), {
        ok: false,
        refused: 'stale',
      });
      const conflicting = {
        ...step,
        shared: { reads: { 'app:n': 7 }, writes: { place: 'state', set: { 'app:n': 1 } } },
      };
      assert.equal((await commitOne(store, conflicting))?.ok, false);
      assert.deepEqual(await store.usage({ appName: 'app', by: [] }), []);
      await commitOk(store, [step]);
      assert.deepEqual(await commitOne(store, step), { ok: false, refused: 'stale' });
      // Steps of one commit, of one session and of several.
      const other = await createSession(store, 'one', 'other');
      const current = await getExisting(store, row.key);
      const next = nextStep(current, undefined, { records: [], events: [], usage });
      await commitOk(store, [
        next,
        { ...next, step: next.step + 1 },
        nextStep(other, undefined, { records: [], events: [], usage }),
      ]);
      assert.deepEqual(await store.usage({ appName: 'app', by: [] }), [
        { calls: 4, tokens: { inputTokens: 40, outputTokens: 4, totalTokens: 44 } },
      ]);
    },
  ),

  storeContractCase('a wrong query of usage is refused', async (harness) => {
    const store = await harness.open();
    const wrong = [
      { by: ['week'] },
      { by: ['day', 'day'] },
      { by: [], from: '2026-1-1' },
      { by: [], to: '2026-02-30' },
    ];
    for (const query of wrong)
      await assert.rejects(
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong on purpose
        store.usage({ appName: 'app', ...query } as Parameters<Store['usage']>[0]),
        InvalidInputError,
      );
  }),
];
