/** Random schedules of a live session: speech, messages, tools, lost connections and interrupts at any moment. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { LogEvent } from '../../src/core/index.ts';
import type { LiveListener, LiveModel, ScriptedLive } from '../../src/live/index.ts';
import type { ScriptedLiveTurn } from '../../src/live/models/scripted/scripted-live-turn.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { HeldTool } from './held-tool.ts';
import { describeEvent } from './simulated-call.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

const SESSION = { appName: 'petrichor', userId: 'default', sessionId: 'demo' };
const STEP_MS = 20;
const TOOL = 'find';

const text = 'One two three four five six seven eight.';
const heard = 'A.';
const turn: fc.Arbitrary<ScriptedLiveTurn> = fc.constantFrom<ScriptedLiveTurn>(
  { heard, text },
  { heard, text, wordDelayMs: 200 },
  { heard, toolCalls: [{ id: '', name: TOOL }] },
  { heard, text: 'Hm so.', toolCalls: [{ id: '', name: TOOL }] },
  { heard, text, goAway: { timeLeftMs: 500 } },
  { heard, text, delayMs: 1_500 },
  { heard, text, wordDelayMs: 200, close: { code: 1011, afterWords: 3 } },
);

/** What happens next. `lose` breaks the newest connection, `lose-first` the one before it. */
const ACTIONS = [
  'say',
  'speak',
  'lose',
  'lose-first',
  'go-away',
  'handle',
  'give-result',
  'interrupt',
  'call',
  'hang-up',
  'message',
  'unasked-reply',
  'wait',
  'wait-long',
] as const;
type Action = (typeof ACTIONS)[number];

/** A random schedule. */
export interface LiveSchedule {
  readonly turns: readonly ScriptedLiveTurn[];
  /** Actions, and how many steps of 20 ms follow each. */
  readonly actions: readonly (readonly [Action, number])[];
  readonly windowMs: number;
  readonly vad: 'client' | 'server';
}

export const liveSchedules: fc.Arbitrary<LiveSchedule> = fc.record({
  turns: fc.array(turn, { minLength: 2, maxLength: 6 }),
  actions: fc.array(
    fc.tuple(fc.constantFrom(...ACTIONS, 'wait' as const), fc.integer({ min: 0, max: 40 })),
    {
      minLength: 2,
      maxLength: 12,
    },
  ),
  windowMs: fc.constantFrom(200, 800, 5_000),
  vad: fc.constantFrom('client', 'server'),
});

/** Runs a schedule until the session is at rest, and checks that nothing is lost, repeated or stuck. */
export async function runLiveSchedule(schedule: LiveSchedule): Promise<void> {
  const { actions, windowMs, vad } = schedule;
  const tool = new HeldTool(TOOL);
  const rest = Array.from({ length: 60 }, () => ({ heard: 'Z.', text: 'Fine.' }));
  const turns = [...schedule.turns, ...rest].map(nameCalls);
  const realtimeInputConfig = { automaticActivityDetection: { disabled: vad === 'client' } };
  const listeners: LiveListener[] = [];
  await using one = await talk(
    { turns },
    [tool.tool],
    { realtimeInputConfig },
    { windowMs },
    (live) => breakable(live, listeners),
  );
  const actor = new Actor(one, { tool, listeners, vad });
  for (const [what, steps] of actions) {
    await actor.act(what);
    await one.call.pass(what === 'wait-long' ? 4_000 : steps * STEP_MS);
  }
  // The end of speech that has begun.
  one.call.client.call?.speechStopped();
  await one.call.silence(600);
  await untilAtRest(one, tool);
  await checkLog(one, actor.messages);
}

/** Does what a schedule says. */
class Actor {
  messages = 0;
  readonly #talk: Talk;
  readonly #tool: HeldTool;
  readonly #listeners: readonly LiveListener[];
  readonly #vad: LiveSchedule['vad'];
  #replies = 0;

  constructor(
    one: Talk,
    {
      tool,
      listeners,
      vad,
    }: {
      readonly tool: HeldTool;
      readonly listeners: readonly LiveListener[];
      readonly vad: LiveSchedule['vad'];
    },
  ) {
    this.#talk = one;
    this.#tool = tool;
    this.#listeners = listeners;
    this.#vad = vad;
  }

  async act(action: Action): Promise<void> {
    const { call, hub } = this.#talk;
    const newest = this.#listeners.at(-1);
    switch (action) {
      case 'say':
      case 'speak':
        await this.#speak(action === 'say');
        return;
      case 'lose':
        newest?.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
        return;
      case 'lose-first':
        this.#listeners.at(-2)?.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
        return;
      case 'go-away':
        newest?.onSignal({ kind: 'go-away' });
        return;
      case 'handle':
        newest?.onSignal({ kind: 'handle', handle: 'scripted:1' });
        return;
      case 'give-result':
        this.#tool.give();
        return;
      case 'interrupt':
        void call.session.interrupt();
        return;
      case 'call':
        call.client.call = await hub.call(call.session, call.client);
        return;
      case 'hang-up':
        await call.client.call?.hangUp();
        return;
      case 'message':
        void call.session.send(`M${this.messages++}`);
        return;
      case 'unasked-reply':
        this.#replyUnasked(newest);
        return;
      default:
        return;
    }
  }

  async #speak(isComplete: boolean): Promise<void> {
    const { call } = this.#talk;
    if (this.#vad === 'server') {
      await (isComplete ? call.say(200) : call.speak(100));
      return;
    }
    call.client.call?.speechStarted();
    await call.speak(100);
    if (isComplete) call.client.call?.speechStopped();
  }

  #replyUnasked(listener: LiveListener | undefined): void {
    const reply = `unasked${this.#replies++}`;
    listener?.onSignal({ kind: 'begun', reply });
    listener?.onMedia({ reply, data: new Uint8Array(960), fromMs: 0, toMs: STEP_MS });
    listener?.onSignal({ kind: 'interrupted', reply });
    listener?.onSignal({ kind: 'done', reply, finishReason: 'stop', interrupted: true });
  }
}

/** A model whose connections report nothing more after the schedule has broken them. */
function breakable(live: ScriptedLive, listeners: LiveListener[]): LiveModel {
  return {
    name: live.name,
    open: async (request, context) => {
      const { listener } = context;
      let isLost = false;
      const breaking: LiveListener = {
        onSignal: (signal) => {
          if (!isLost) listener.onSignal(signal);
          isLost ||= signal.kind === 'closed';
        },
        onMedia: (media) => {
          if (!isLost) listener.onMedia(media);
        },
        onPartial: (partial) => {
          if (!isLost) listener.onPartial?.(partial);
        },
      };
      listeners.push(breaking);
      return live.open(request, { ...context, listener: breaking });
    },
  };
}

/** Every call of a conversation has another id. */
function nameCalls(turn: ScriptedLiveTurn, index: number): ScriptedLiveTurn {
  const { toolCalls } = turn;
  return toolCalls === undefined ? turn : { ...turn, toolCalls: [{ id: `c${index}`, name: TOOL }] };
}

/** Waits until no turn is under way, for at most 80 seconds. @throws AssertionError naming the tokens that are left */
async function untilAtRest({ call, store }: Talk, tool: HeldTool): Promise<void> {
  for (let second = 0; ; second++) {
    tool.give();
    await call.pass(1_000);
    const { tokens } = await hydrate(store, SESSION);
    const count = (place: string): number => tokens.get(place)?.length ?? 0;
    const under = ['utterance.ended', 'user.in', 'model.active', 'link.changed', 'voice.open'];
    const isLinked = count('link.up') === 1 || count('link.called') === 0;
    const isFree = count('turn.permit') === 1 && count('play.window') === 2;
    if (isFree && isLinked && under.every((place) => count(place) === 0)) return;
    if (second < 80) continue;
    const left = [...tokens].filter(([, list]) => list.length > 0);
    assert.fail(left.map(([place, list]) => `${place}=${list.length}`).join(' '));
  }
}

async function checkLog({ call, store }: Talk, messages: number): Promise<void> {
  const { tokens } = await hydrate(store, SESSION);
  for (const place of ['net.fault', 'net.fault.unhandled'])
    assert.equal(tokens.get(place)?.length ?? 0, 0, place);
  const events: LogEvent[] = [];
  for await (const event of call.session.events(0, { follow: false }))
    events.push(event as LogEvent);
  const log = events.map(describeEvent);
  const sent = Array.from({ length: messages }, (_, index) => `user: M${index}`);
  assert.deepEqual(log.filter((line) => line.startsWith('user: M')).toSorted(), sent.toSorted());
  const count = (type: LogEvent['type']): number =>
    events.filter((event) => event.type === type).length;
  assert.equal(count('tool.call'), count('tool.result'), log.join());
  const list = (type: 'turn.started' | 'turn.ended'): readonly string[] =>
    events.flatMap((event) => (event.type === type ? [event.invocationId] : []));
  const started = list('turn.started');
  assert.equal(new Set(started).size, started.length, log.join());
  const ended = list('turn.ended').filter((id) => started.includes(id));
  assert.deepEqual(ended.toSorted(), started.toSorted(), log.join());
}
