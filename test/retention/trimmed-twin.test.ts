import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { encodeMarking, parseRecords, replayRecords } from '../../src/net/journal/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime, trimJournal } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { noteAgent } from '../copies/loaded-store.ts';

const START = 1_700_000_000_000;
const KEY = { appName: 'petrichor', userId: 'default', sessionId: 's' };

type Action =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'say again' }
  | { readonly do: 'rewind'; readonly back: number }
  | { readonly do: 'append' }
  | { readonly do: 'restart' }
  | { readonly do: 'trim'; readonly back: number };

/** A session, with everything that happened to it. Two of them with the same actions have the same ids and times. */
class Twin {
  readonly #isTrimmed: boolean;
  readonly #clock = new SimulatedClock(START);
  readonly store = new MemoryStore({ newUid: () => 'uid' });
  readonly seen: unknown[] = [];
  readonly runs: string[] = [];
  trims = 0;
  #runtime: Promise<Runtime>;
  #messages = 0;
  readonly #invocations: string[] = [];
  /** When each invocation began. A message that is sent again is still its first turn. */
  readonly #begunAt = new Map<string, number>();
  #trimmedUpTo = 0;

  constructor(isTrimmed: boolean) {
    this.#isTrimmed = isTrimmed;
    this.#runtime = this.#open();
  }

  async #open(): Promise<Runtime> {
    return openRuntime({ agents: [noteAgent(this.runs)], store: this.store, clock: this.#clock });
  }

  async act(action: Action): Promise<void> {
    this.#clock.advance(1000);
    const session = await (await this.#runtime).session('s');
    if (action.do === 'say' || action.do === 'say again') {
      if (action.do === 'say') this.#messages++;
      const [call] = await session.pending();
      const text = action.do === 'say' ? action.text : 'again';
      // A message of a waiting turn waits for it.
      if (call === undefined) {
        const turn = session.send(text, { messageId: `m${this.#messages}` });
        for await (const event of turn) this.seen.push(event);
        this.#invocations.push(turn.invocationId);
        if (!this.#begunAt.has(turn.invocationId))
          this.#begunAt.set(turn.invocationId, this.#clock.now());
      } else {
        const { id, fingerprint } = call;
        for await (const event of session.approve(id, { fingerprint })) this.seen.push(event);
      }
    } else if (action.do === 'append') {
      const event = { author: 'crm', content: 'Paid.' };
      await session.append(event, { dedupeKey: `append ${this.#clock.now()}` });
    } else if (action.do === 'rewind') {
      const to = this.#invocations.at(-1 - action.back);
      if (to === undefined || (await session.pending()).length > 0) return;
      // Only to a turn that the journal still has.
      if ((this.#begunAt.get(to) ?? 0) <= this.#trimmedUpTo) return;
      await session.rewind({ beforeInvocationId: to, dedupeKey: `${this.#clock.now()}` });
      this.#invocations.length -= action.back + 1;
    } else if (action.do === 'restart') {
      await (await this.#runtime)[Symbol.asyncDispose]();
      this.#runtime = this.#open();
    } else {
      // The clock advances a second with each action.
      const upTo = this.#clock.now() - (action.back + 1) * 1000;
      this.#trimmedUpTo = Math.max(this.#trimmedUpTo, upTo);
      if (!this.#isTrimmed) return;
      if ((await trimJournal(this.store, KEY, { upTo })) !== undefined) this.trims++;
    }
    while ((await this.store.find(KEY))?.inboxPending === true) await setImmediate();
  }

  /** What both must have. */
  async read(): Promise<unknown> {
    const row = await this.store.find(KEY);
    const events = [];
    for await (const event of this.store.read(KEY)) events.push(event);
    const marking = row === undefined ? undefined : encodeMarking(await hydrate(this.store, KEY));
    // Owners have random ids.
    return { row: { ...row, owner: null }, events, marking, seen: this.seen, runs: this.runs };
  }

  async readRecords(): Promise<readonly unknown[]> {
    const records: unknown[] = [];
    for await (const step of this.store.steps(KEY, 0)) records.push(...step.records);
    return records;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#runtime)[Symbol.asyncDispose]();
  }
}

const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('plain', 'ask').map((text) => ({ do: 'say' as const, text })),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'say again' as const }) },
    { weight: 1, arbitrary: fc.nat(2).map((back) => ({ do: 'rewind' as const, back })) },
    { weight: 1, arbitrary: fc.constant({ do: 'append' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
    { weight: 4, arbitrary: fc.nat(1).map((back) => ({ do: 'trim' as const, back })) },
  ),
  { minLength: 4, maxLength: 12 },
);

test('a session that is trimmed at random moments does the same as one that is not', async () => {
  let trims = 0;
  await fc.assert(
    fc.asyncProperty(actions, async (plan) => {
      await using whole = new Twin(false);
      await using trimmed = new Twin(true);
      for (const action of [
        { do: 'say', text: 'plain' } as const,
        ...plan,
        { do: 'say', text: 'end' } as const,
      ]) {
        await whole.act(action);
        await trimmed.act(action);
        assert.deepEqual(await trimmed.read(), await whole.read());
      }
      // A browser replays the journal from its first record.
      const records = JSON.parse(JSON.stringify(await trimmed.readRecords()));
      assert.deepEqual(
        encodeMarking(replayRecords(parseRecords(records))),
        encodeMarking(await hydrate(whole.store, KEY)),
      );
      trims += trimmed.trims;
    }),
    { numRuns: 12, seed: 20_261_124 },
  );
  assert.ok(trims > 10, `${trims} trims`);
});
